import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { repositoryRoot } from '../src/data-directory.ts';
import { findRandomPorts, toNamedPorts } from '../src/ports.ts';

const run = promisify(execFile);

/** Waits for the line `ready URL`. Throws with the output if the process ends before. */
async function readyUrl(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text) => {
      output += text;
      const url = /^ready (\S+)$/m.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
  child.once('close', (code) => reject(new Error(`npm start ended with ${code}: ${output.slice(-4_000)}`)));
  return promise;
}

// The other tests run with everything installed. A newcomer's first command installs less.
test('npm start in a fresh clone installs what it needs, and starts', async () => {
  await using cleanup = new AsyncDisposableStack();
  const clone = await mkdtemp(join(tmpdir(), 'phds-first-start-'));
  cleanup.defer(() => rm(clone, { recursive: true }));
  await run('git', ['clone', '--quiet', '--shared', repositoryRoot, clone]);
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|PHDS_|CI$)/i.test(name));
  const ports = toNamedPorts(await findRandomPorts(1)).map(({ variable, port }) => [variable, String(port)]);
  const child = spawn('npm', ['start', '--', '--no-install'], {
    cwd: clone,
    env: Object.fromEntries([...own, ...ports]),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group, so that a signal reaches npm and what it starts, as Ctrl-C does.
    detached: true,
  });
  cleanup.defer(async () => {
    if (child.exitCode !== null || child.pid === undefined) return;
    process.kill(-child.pid, 'SIGINT');
    await once(child, 'close');
  });
  const url = await readyUrl(child);
  for (const path of ['/readyz', '/'])
    expect({ path, status: (await fetch(url + path)).status }).toEqual({ path, status: 200 });
  // The documentation is built beside the start.
  await eventually(async () => expect((await fetch(`${url}/docs`)).status).toBe(200), { timeoutMs: 600_000 });
}, 900_000);
