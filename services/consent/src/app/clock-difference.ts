import { AppError } from '@phds/service-kit/errors';
import type { AccessRecorder } from './record-ports.ts';

/** Nothing was recorded: the clocks of this process and of the database differ by more than is allowed. */
export class ClocksDiffer extends AppError {
  readonly processClock: Date;
  readonly databaseClock: Date;

  constructor(processClock: Date, databaseClock: Date) {
    const cause = new Error(
      `the clock of this process says ${processClock.toISOString()}, that of the database ${databaseClock.toISOString()}`,
    );
    super('access_not_recorded', 'The access could not be recorded.', { cause, retryAfterSeconds: 1 });
    this.processClock = processClock;
    this.databaseClock = databaseClock;
  }
}

type Say = (details: object, text: string) => void;

/** While clocks differ each batch fails: once a minute is enough to say so. */
const SAID_EVERY_MS = 60_000;

/** The same recorder, which logs that clocks differ, once a minute while it lasts, and that they agree again. */
export function loggingClockDifference(
  recorder: AccessRecorder,
  log: { readonly error: Say; readonly info: Say },
): AccessRecorder {
  /** Monotonic milliseconds; null while clocks agree. */
  let saidAt: number | null = null;
  return {
    ...recorder,
    async record(batch) {
      try {
        await recorder.record(batch);
      } catch (error) {
        if (
          error instanceof ClocksDiffer &&
          (saidAt === null || performance.now() - saidAt >= SAID_EVERY_MS)
        ) {
          saidAt = performance.now();
          const { processClock, databaseClock } = error;
          log.error(
            { processClock, databaseClock },
            'no access is recorded: the clocks of this process and of the database differ by more than ACCESS_CLOCK_TOLERANCE_MS',
          );
        }
        throw error;
      }
      if (saidAt !== null) log.info({}, 'accesses are recorded again: the clocks agree');
      saidAt = null;
    },
  };
}
