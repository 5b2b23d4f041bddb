import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyRecords } from '@phds/cli/commands/records-verify';
import { openRecords } from '@phds/cli/records/connection';
import type { Stack } from '@phds/local-stack/stack';

/** Runs `phds records verify` on the stack's records and returns its output and whether it found no fault. */
export async function verifyChain(
  stack: Pick<Stack, 'databases' | 'keys'>,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const said: string[] = [];
  const sink = { write: (text: string) => said.push(text) };
  const connect = () =>
    openRecords({
      RECORDS_DATABASE_URL: stack.databases.consent.ownerUrl,
      RECORDS_PUBLIC_KEYS_FILE: stack.keys.receiptPublicKeys,
    });
  const everything = { json: false, expect: null };
  const code = await verifyRecords(everything, { output: sink, errors: sink, connect });
  return { ok: code === 0, text: said.join('').trim().replaceAll('\n', ' ') };
}

/** Our secrets are recognised by their prefix, sessions by the header of a JWT. */
const SECRETS: readonly (readonly [string, RegExp])[] = [
  ['a secret', /phds_(cs|ac|at|rt)_[0-9A-Za-z]/],
  ['a session or another signed token', /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]/],
  ['an Authorization field', /Bearer [\w-]{20}/],
];

const CHUNK_BYTES = 1 << 20;
/** Maximum number of characters of a secret that continue in the next chunk. */
const OVERLAP = 300;

/** Searches the log lines written since its last search. */
export class LogWatch {
  readonly #directory: string;
  readonly #seen = new Map<string, number>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** One sentence for each kind of secret found in each log. */
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
