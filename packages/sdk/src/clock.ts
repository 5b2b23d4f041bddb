/** The time, and waiting. Tests pass their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after this many milliseconds; rejects with the reason of the signal when it is aborted earlier. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** A proof or an assertion is accepted 60 s after and 30 s before its time. */
const TOLERANCE_MS = 30_000;

/** The time of the service: our clock, corrected by the `Date` of its answers. */
export class ServiceTime {
  readonly #clock: Clock;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }

  /** Reads an answer to what was sent at this time of ours. Returns whether that time was wrong. */
  note(headers: Headers, sentAt: number): boolean {
    const date = Date.parse(headers.get('Date') ?? '');
    if (Math.abs(date - this.now()) > TOLERANCE_MS) this.#aheadMs = date - this.#clock.now();
    return Math.abs(date - sentAt) > TOLERANCE_MS;
  }
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, milliseconds);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

/** Stops waiting when the signal is aborted. The work itself goes on, because other callers may wait for it too. */
export function untilAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const settled = () => signal.removeEventListener('abort', stop);
    work.finally(settled).then(resolve, reject);
  });
}
