import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { installPackage } from '@phds/dev-stack/system-programs';

const LIBRARIES = '/usr/lib';

/** Path of libfaketime, which is installed where it is missing. Throws where that is impossible. */
export async function findFakeClock(notice: (text: string) => void): Promise<string> {
  const found =
    (await findLibrary()) ?? ((await installPackage('libfaketime', notice)) ? await findLibrary() : null);
  if (found === null)
    throw new Error('There is no libfaketime here. Install the package libfaketime (Debian, Ubuntu).');
  return found;
}

/**
 * The environment of processes whose wall clock shall be at an instant (milliseconds) now, and run on from there. Timers and file
 * times stay real. All processes shift their clocks by the same whole seconds, so they agree.
 */
export function toFakeClockEnvironment(
  library: string,
  instant: number,
  now = Date.now(),
): Readonly<Record<string, string>> {
  const seconds = Math.round((instant - now) / 1000);
  return {
    LD_PRELOAD: library,
    FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}`,
    FAKETIME_DISABLE_SHM: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
}

async function findLibrary(): Promise<string | null> {
  const found: string[] = await readdir(LIBRARIES).catch(() => []);
  for (const directory of found.map((name) => join(LIBRARIES, name, 'faketime'))) {
    const files: string[] = await readdir(directory).catch(() => []);
    if (files.includes('libfaketime.so.1')) return join(directory, 'libfaketime.so.1');
  }
  return null;
}
