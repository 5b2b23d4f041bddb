/** Keeps a read of many pages within the limit of the service, which counts requests by the minute. */
export class Pace {
  /** Called with each wait before it begins, in milliseconds. */
  readonly onWait: ((waitMs: number) => void) | undefined;
  #notBefore = 0;

  constructor(onWait?: (waitMs: number) => void) {
    this.onWait = onWait;
  }

  /** How long the next request should wait. */
  pauseMs(now: number): number {
    return this.#notBefore - now;
  }

  /**
   * Reads what an answer says about the limit. Half of the requests may be sent at once; the others are spread over the time until the
   * limit is full again, so that calls for which somebody waits find some left.
   */
  note(headers: Headers, now: number): void {
    const quota = findNumber(headers.get('RateLimit-Policy'), 'q');
    const remaining = findNumber(headers.get('RateLimit'), 'r');
    const seconds = findNumber(headers.get('RateLimit'), 't');
    if (quota === null || remaining === null || seconds === null || remaining * 2 >= quota) return;
    this.#notBefore = now + (seconds * 1_000) / (remaining + 1);
  }
}

function findNumber(field: string | null, name: string): number | null {
  const value = field?.match(new RegExp(`;\\s*${name}=(\\d+)`))?.[1];
  return value === undefined ? null : Number(value);
}
