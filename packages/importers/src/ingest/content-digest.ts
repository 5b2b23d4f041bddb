import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** The content of files, in order, and the choices that decide what is taken from them. */
export interface ContentToDigest {
  readonly files: readonly string[];
  readonly choices: Readonly<Record<string, string | null>>;
}

/** What was read of the files. */
export interface ContentDigest {
  /** SHA-256, lower-case hex. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

const CHUNK_BYTES = 1024 * 1024;

/** Names content by its digest: equal files with equal choices are the same import, wherever they lie. */
export async function digestContent({ files, choices }: ContentToDigest): Promise<ContentDigest> {
  const digests: string[] = [];
  let size = 0;
  for (const file of files) {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(file, {
      highWaterMark: CHUNK_BYTES,
    }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      size += chunk.length;
    }
    digests.push(hash.digest('hex'));
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([choices, digests]))
    .digest('hex');
  return { digest, size };
}
