import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
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
  // Opened before the text is read: a failure while the file is still being opened would delete it before it exists.
  const handle = await open(beside, 'wx', 0o600);
  try {
    await pipeline(text, handle.createWriteStream({ flush: true }));
    await rename(beside, place);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** Writes a text to a file as `writeWholeFile` does, or without a file to the output, which stays open. */
export async function writeFileOrOutput(
  file: string | null,
  text: AsyncIterable<string>,
  output: Writable,
): Promise<void> {
  if (file === null) await pipeline(text, output, { end: false });
  else await writeWholeFile(file, text);
}
