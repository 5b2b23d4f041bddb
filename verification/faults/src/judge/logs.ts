import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Every secret of ours is recognisable by its prefix (contract section 1); a session by the head of a signed token. */
const SECRETS: readonly (readonly [string, RegExp])[] = [
  ['a secret', /phds_(cs|ac|at|rt)_[0-9A-Za-z]/],
  ['a session or another signed token', /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]/],
  ['an Authorization field', /Bearer [\w-]{20}/],
];

const CHUNK_BYTES = 1 << 20;
/** A secret that begins in one chunk ends within so many characters of the next. */
const OVERLAP = 300;

/** Looks at what the logs have gained since it looked last. */
export class LogWatch {
  readonly #directory: string;
  readonly #seen = new Map<string, number>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** A sentence for each kind of secret in each log. */
  async findSecrets(): Promise<string[]> {
    const found: string[] = [];
    for (const name of await readdir(this.#directory)) {
      const kinds = new Set<string>();
      for await (const text of this.#readNew(name)) {
        for (const [what, pattern] of SECRETS) if (pattern.test(text)) kinds.add(what);
      }
      found.push(...[...kinds].map((what) => `${what} stands in the log ${name}`));
    }
    return found;
  }

  async *#readNew(name: string): AsyncIterable<string> {
    await using file = await open(join(this.#directory, name));
    const buffer = Buffer.alloc(CHUNK_BYTES);
    let overlap = '';
    for (;;) {
      const at = this.#seen.get(name) ?? 0;
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, at);
      if (bytesRead === 0) return;
      this.#seen.set(name, at + bytesRead);
      const text = overlap + buffer.toString('latin1', 0, bytesRead);
      yield text;
      overlap = text.slice(-OVERLAP);
    }
  }
}
