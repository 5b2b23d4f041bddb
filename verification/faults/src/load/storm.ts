/** Many tokens revoked at once: every lane collects its share, waits for the others, and then all of them go at it. */
export class Storm {
  /** Of each lane. */
  readonly tokens: number;
  /** Revocations that a lane has under way at a time. */
  readonly parallel: number;
  #collecting: number;
  #lanes: number;
  readonly #collected = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();

  constructor(options: { readonly tokens: number; readonly parallel: number; readonly lanes: number }) {
    this.tokens = Math.ceil(options.tokens / options.lanes);
    this.parallel = options.parallel;
    this.#collecting = options.lanes;
    this.#lanes = options.lanes;
  }

  /** A lane has its share, or never will; waits for the others. */
  everybody(): Promise<void> {
    this.#collecting -= 1;
    if (this.#collecting === 0) this.#collected.resolve();
    return this.#collected.promise;
  }

  /** A lane is through. */
  leave(): void {
    this.#lanes -= 1;
    if (this.#lanes === 0) this.#over.resolve();
  }

  /** Everybody has their share. */
  get collected(): Promise<void> {
    return this.#collected.promise;
  }

  /** Everybody is through. */
  get over(): Promise<void> {
    return this.#over.promise;
  }
}
