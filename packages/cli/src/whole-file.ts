import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/**
 * Writes a file that only its owner can read. It is written beside its destination and renamed when complete, so the name never
 * refers to a partial file, and a failure keeps the previous file. A pipe or device is written directly.
 */
export async function writeWholeFile(
  file: string,
  text: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const place = await realpath(file).catch(() => file);
  const known = await stat(place).catch(() => null);
  if (known !== null && !known.isFile()) {
    await pipeline(text, createWriteStream(place));
    return;
  }
  const beside = join(dirname(place), `.${basename(place)}.${randomBytes(6).toString('hex')}.part`);
  try {
    await pipeline(text, createWriteStream(beside, { flags: 'wx', mode: 0o600, flush: true }));
    await rename(beside, place);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}
