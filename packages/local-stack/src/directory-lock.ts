import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identifySelf, isRunning } from './servers/process-identity.ts';
import { findStackFile } from './stack-file.ts';

/**
 * Reserves a data directory for this process until disposal, so that of two starts at once the second changes nothing. Throws, with a
 * message for the terminal, when another process that still runs has reserved it.
 */
export async function lockDataDirectory(root: string): Promise<AsyncDisposable> {
  await mkdir(root, { recursive: true });
  const lock = join(root, 'stack.lock');
  const own = `${lock}.${randomBytes(6).toString('hex')}`;
  await writeFile(own, identifySelf());
  try {
    // A link appears with its content, and only one of two succeeds.
    while (!(await linkUnlessTaken(own, lock))) await removeLeftover(lock, root);
  } finally {
    await rm(own, { force: true });
  }
  return { [Symbol.asyncDispose]: () => rm(lock, { force: true }) };
}

async function linkUnlessTaken(own: string, lock: string): Promise<boolean> {
  return link(own, lock).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

/** Removes the lock of a killed run. */
async function removeLeftover(lock: string, root: string): Promise<void> {
  const holder = await readFile(lock, 'utf8').catch(() => null);
  if (holder === null) return;
  if (isRunning(holder)) {
    const url = findStackFile(root)?.gatewayUrls[0] ?? 'it is starting';
    throw new Error(`A local stack is already running: ${url} (process ${holder.split(' ')[0]}).`);
  }
  const removed = `${lock}.${randomBytes(6).toString('hex')}`;
  await rename(lock, removed).catch(() => undefined);
  // Another start may have removed the leftover first, and this one its lock: it is put back.
  if ((await readFile(removed, 'utf8').catch(() => holder)) !== holder) await link(removed, lock);
  await rm(removed, { force: true });
}
