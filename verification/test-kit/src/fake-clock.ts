/** A clock that stands still until a test moves it. */
export class FakeClock {
  #time: number;

  constructor(start: Date | string = '2026-03-01T12:00:00.000Z') {
    this.#time = new Date(start).getTime();
  }

  now(): Date {
    return new Date(this.#time);
  }

  /** Moves the clock by milliseconds; a negative number moves it back. */
  advance(milliseconds: number): void {
    this.#time += milliseconds;
  }

  set(time: Date | string): void {
    this.#time = new Date(time).getTime();
  }
}
