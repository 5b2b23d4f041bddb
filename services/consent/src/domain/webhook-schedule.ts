const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The waits after the first failed attempts; after that, the last one again. */
const WAITS_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 12 * HOUR] as const;

/** An event is given up when the next attempt would be later than this after the first. */
export const GIVE_UP_AFTER_MS = 72 * HOUR;

/** By how much a wait is longer at most, so that events that failed together do not return together. */
const JITTER = 0.1;

/**
 * How long to wait after the failure of attempt number `attempts`, made `ageMs` after the first could have been made; null to give up.
 * `random` is from 0 to 1.
 */
export function waitAfter(attempts: number, ageMs: number, random: number): number | null {
  const wait = WAITS_MS[Math.min(attempts, WAITS_MS.length) - 1] ?? WAITS_MS[0];
  const jittered = Math.round(wait * (1 + JITTER * random));
  return ageMs + jittered > GIVE_UP_AFTER_MS ? null : jittered;
}
