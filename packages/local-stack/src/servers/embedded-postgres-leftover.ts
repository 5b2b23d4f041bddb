import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isRunning } from './process-identity.ts';

/** Names the process that started the server of a data directory, in the form of `identifyProcess`. */
export const OWNER_FILE = 'owner.pid';

const STOP_TIMEOUT_MS = 15_000;
const POLL_MS = 50;

/**
 * Prepares a start in this data directory: stops the server of a killed run, and removes a `postmaster.pid` whose process has ended
 * or is another program. Throws when the server is in use.
 */
export async function stopLeftover(directory: string): Promise<void> {
  const pidFile = join(directory, 'postmaster.pid');
  const postmaster = await readPid(pidFile);
  if (postmaster === null) return;
  if (isAlive(postmaster) && (await isServerOf(postmaster, directory))) {
    const owner = (await readFile(join(directory, OWNER_FILE), 'utf8').catch(() => '')).trim();
    if (isRunning(owner)) {
      throw new Error(`the database in ${directory} is in use by process ${owner.split(' ')[0]}`);
    }
    await stop(postmaster);
  }
  await rm(pidFile, { force: true });
}

async function readPid(path: string): Promise<number | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isNaN(pid) || pid <= 0 ? null : pid;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isServerOf(pid: number, directory: string): Promise<boolean> {
  const command = await readCommand(pid);
  // If the command is unknown, assume it is the server: an error from Postgres is better than removing the lock of a running
  // server.
  return command === null || command.includes(directory);
}

async function readCommand(pid: number): Promise<string | null> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  } catch {
    const ps = await promisify(execFile)('ps', ['-p', String(pid), '-o', 'command=']).catch(() => null);
    return ps === null ? null : ps.stdout;
  }
}

async function stop(pid: number): Promise<void> {
  process.kill(pid, 'SIGINT');
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (isAlive(pid)) {
    if (Date.now() > deadline) throw new Error(`Postgres server ${pid} of an earlier run did not stop`);
    await delay(POLL_MS);
  }
}
