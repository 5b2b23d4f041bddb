import { withinOrigin } from '../deadline.ts';
import type { Logger } from './log.ts';

/** Lines of one kind that are written in a second. */
const MAX_LINES = 10;
const WINDOW_MS = 1_000;

type Log = Pick<Logger, 'info' | 'warn' | 'error'>;
type Window = { written: number; omitted: number };

/** Each `kind` has a limit of its own; there are only a few kinds. */
export type SampledLog = (level: keyof Log, kind: string, fields: object, message: string) => void;

const sampledLogs = new WeakMap<Log, SampledLog>();

/**
 * The log for lines that anybody can cause: at most ten of each kind in a second are written, so that nobody can fill the log or the memory
 * with them. Another line counts the omitted ones of that second.
 */
export function sampledLogOf(log: Log): SampledLog {
  const known = sampledLogs.get(log);
  if (known !== undefined) return known;
  const windows = new Map<string, Window>();
  const sampled: SampledLog = (level, kind, fields, message) => {
    const window = windows.get(kind) ?? open(kind, (omitted) => log[level]({ kind, omitted }, message));
    if (window.written < MAX_LINES) {
      window.written += 1;
      log[level](fields, message);
    } else window.omitted += 1;
  };
  sampledLogs.set(log, sampled);
  return sampled;

  function open(kind: string, report: (omitted: number) => void): Window {
    const window = { written: 0, omitted: 0 };
    windows.set(kind, window);
    const close = () => {
      windows.delete(kind);
      if (window.omitted > 0) report(window.omitted);
    };
    // The count belongs to no request.
    withinOrigin(undefined, () => setTimeout(close, WINDOW_MS).unref());
    return window;
  }
}
