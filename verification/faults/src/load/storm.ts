/** Many tokens revoked at once: every person collects a share, waits for the others, and then all revoke at once. */
export class Storm {
  /** Of each person. */
  readonly tokens: number;
  /** Revocations that a person has under way at a time. */
  readonly parallel: number;
  #collecting: number;
  #people: number;
  readonly #collected = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();

  constructor(options: { readonly tokens: number; readonly parallel: number; readonly people: number }) {
    this.tokens = Math.ceil(options.tokens / options.people);
    this.parallel = options.parallel;
    this.#collecting = options.people;
    this.#people = options.people;
  }

  /** A person has collected their share, or gave up; waits for the others. */
  everybody(): Promise<void> {
    this.#collecting -= 1;
    if (this.#collecting === 0) this.#collected.resolve();
    return this.#collected.promise;
  }

  /** A person has revoked their share. */
  leave(): void {
    this.#people -= 1;
    if (this.#people === 0) this.#over.resolve();
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
