import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** The content of files, in order, and the options that affect what is imported. */
export interface ContentToDigest {
  readonly files: readonly string[];
  readonly choices: Readonly<Record<string, string | null>>;
}

/** The result of reading the files. */
export interface ContentDigest {
  /** SHA-256, lower-case hex. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

const CHUNK_BYTES = 1024 * 1024;

/** Identifies content by its digest: equal files with equal options are the same import, wherever they are. */
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
