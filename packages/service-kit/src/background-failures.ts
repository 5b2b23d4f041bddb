import { translateDatabaseError } from './postgres/errors.ts';
import type { Logger } from './telemetry/log.ts';
import type { Metrics } from './telemetry/metrics.ts';

/**
 * Takes the failures of background tasks. `task` says what the task does, as in "delivering events": it is the label of the metric and,
 * followed by "failed", the line of the log.
 */
export type FailureReports = (task: string) => (error: unknown) => void;

/**
 * Logs and counts the failures of background tasks. A task is exported from its first mention, so that its first failure shows. What does
 * not answer is logged as `unavailable`, which needs no stack.
 */
export function reportFailures(metrics: Metrics, log: Pick<Logger, 'warn'>): FailureReports {
  return (task) => {
    const count = metrics.countFailures(task);
    return (error) => {
      count();
      const translated = translateDatabaseError(error);
      log.warn({ err: translated.reason === 'unavailable' ? translated : error }, `${task} failed`);
    };
  };
}
