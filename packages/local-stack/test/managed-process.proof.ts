import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManagedProcess } from '../src/managed-process.ts';
import { leasePort } from '../src/servers/leased-ports.ts';

const PROGRAM = 'packages/local-stack/test/fixtures/small-server.ts';

let directory: string;
let notices: string[];
let port: number;
let running: ManagedProcess[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'phds-process-'));
  notices = [];
  running = [];
  port = await leasePort();
});

afterEach(async () => {
  await Promise.all(running.map((each) => each.kill()));
  await rm(directory, { recursive: true, force: true });
});

function create(env: Record<string, string> = {}): ManagedProcess {
  const managed = new ManagedProcess({
    name: 'small',
    program: PROGRAM,
    env: { PORT: String(port), ...env },
    logFile: join(directory, 'small.log'),
    readyUrl: `http://127.0.0.1:${port}/`,
    notice: (text) => notices.push(text),
  });
  running.push(managed);
  return managed;
}

async function askPid(): Promise<number> {
  return Number(await (await fetch(`http://127.0.0.1:${port}/`)).text());
}

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Waits on the port instead of the process id: an orphan keeps its id until somebody has waited for it. */
async function untilSilent(): Promise<void> {
  while (
    await askPid().then(
      () => true,
      () => false,
    )
  );
}

describe('a managed process', () => {
  test('restarts with a notice after being killed from outside', async () => {
    const managed = create();
    await managed.start();
    const before = await askPid();
    process.kill(before, 'SIGKILL');
    await untilGone(before);
    await managed.untilReady();
    expect(await askPid()).not.toBe(before);
    expect(notices[0]).toMatch(/^small ended \(SIGKILL\); starting it again/);
    expect(managed.uncalledEnds).toEqual(['SIGKILL']);
  });

  test('that fails to start reports the end of its log', async () => {
    await expect(create({ FAIL: 'yes' }).start()).rejects.toThrow(/small does not start[\s\S]*this is why/);
  });

  test('ends when the process that started it is killed', async () => {
    const parent = spawn(process.execPath, [join(import.meta.dirname, 'fixtures/small-parent.ts')], {
      env: { PORT: String(port), LOG_FILE: join(directory, 'small.log') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(parent.stdout, 'data');
    const child = Number(line);
    expect(await askPid()).toBe(child);
    parent.kill('SIGKILL');
    await untilSilent();
    expect(await readFile(join(directory, 'small.log'), 'utf8')).toBe('');
  });
});
