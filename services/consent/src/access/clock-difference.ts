import { type AccessStatements, ClocksDiffer } from './statements.ts';

type Say = (details: object, text: string) => void;

/** While clocks differ, every batch fails; one log line a minute is enough. */
const SAID_EVERY_MS = 60_000;

/** Wraps the store to log that clocks differ, once a minute, and when they agree again. */
export function loggingClockDifference(
  store: AccessStatements,
  log: { readonly error: Say; readonly info: Say },
): AccessStatements {
  /** Monotonic milliseconds; null while clocks agree. */
  let saidAt: number | null = null;
  return {
    ...store,
    async insert(batch) {
      try {
        await store.insert(batch);
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
