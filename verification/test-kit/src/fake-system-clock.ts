import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram, installPackage } from '@phds/local-stack/servers/system-programs';

const LIBRARIES = '/usr/lib';
const PURPOSE = 'tests under a shifted clock';

/** The libraries to preload into each process, in this order, to shift its clock. */
export interface FakeClockLibraries {
  /** `plain-waits.c`, compiled. */
  readonly waits: string;
  readonly clock: string;
}

/** Finds libfaketime and compiles `plain-waits.c` into a directory. Installs what is missing; throws if that is impossible. */
export async function prepareFakeClock(
  directory: string,
  notice: (text: string) => void,
): Promise<FakeClockLibraries> {
  const clock = await findFakeClock(notice);
  const compilers = ['cc', 'gcc', 'clang'];
  let compiler = await findProgram(compilers);
  // libc6-dev provides the headers, which gcc alone does not include.
  if (
    compiler === null &&
    (await installPackage('libc6-dev', PURPOSE, notice)) &&
    (await installPackage('gcc', PURPOSE, notice))
  ) {
    compiler = await findProgram(compilers);
  }
  if (compiler === null)
    throw new Error('There is no C compiler here. Install the packages gcc and libc6-dev.');
  const waits = join(directory, 'plain-waits.so');
  const source = join(import.meta.dirname, 'plain-waits.c');
  await promisify(execFile)(compiler, ['-shared', '-fPIC', '-O1', '-o', waits, source]);
  return { waits, clock };
}

/** Path of libfaketime, installed if missing. Throws if that is impossible. */
async function findFakeClock(notice: (text: string) => void): Promise<string> {
  const found =
    (await findLibrary()) ??
    ((await installPackage('libfaketime', PURPOSE, notice)) ? await findLibrary() : null);
  if (found === null)
    throw new Error('There is no libfaketime here. Install the package libfaketime (Debian, Ubuntu).');
  return found;
}

/**
 * The environment for processes whose wall clock starts at an instant (milliseconds) and runs on from there. Timers and file times
 * stay real. All processes shift by the same whole seconds, so they agree.
 */
export function toFakeClockEnvironment(
  { waits, clock }: FakeClockLibraries,
  instant: number,
  now = Date.now(),
): Readonly<Record<string, string>> {
  const seconds = Math.round((instant - now) / 1000);
  return {
    LD_PRELOAD: `${waits}:${clock}`,
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
