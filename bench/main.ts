// The newest 20 heart readings of random users through the whole path, beside a floor program, in one run.
//   pnpm bench [--users 3000] [--readings 1000] [--connections 32] [--seconds 8] [--rounds 5] [--fresh]
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultDataDirectory } from '@phds/dev-stack/data-directory';
import { type Stack, startStack } from '@phds/dev-stack/stack';
import { Redis } from 'ioredis';
import { cpuSeconds } from './cpu.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { connectUsers, fillReadings, writeFloorPaths } from './prepare.ts';
import { type Round, report } from './report.ts';

const { values: options } = parseArgs({
  options: {
    users: { type: 'string', default: '3000' },
    readings: { type: 'string', default: '1000' },
    connections: { type: 'string', default: '32' },
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '5' },
    fresh: { type: 'boolean', default: false },
  },
});
const users = Number(options.users);
const seconds = Number(options.seconds);
const connections = Number(options.connections);
const dataDirectory = join(defaultDataDirectory, 'bench');

await using stack = await startStack({
  dataDirectory,
  ports: { random: true, gateways: 1 },
  fresh: options.fresh,
  seed: false,
  say: console.log,
});
console.log(`filling in ${users} users with ${options.readings} readings each`);
await fillReadings(stack, users, Number(options.readings));
console.log('connecting the users to an app');
const tokens = join(dataDirectory, 'requests-service.txt');
const paths = join(dataDirectory, `requests-floor-${users}.txt`);
await connectUsers(stack, users, tokens);
writeFloorPaths(users, paths);

const floor = fork(join(import.meta.dirname, 'floor.ts'), {
  env: { ...process.env, DATABASE_URL: stack.databases['health-data'].url },
});
const [{ port }] = (await once(floor, 'message')) as [{ port: number }];
const load = fork(join(import.meta.dirname, 'load.ts'));
const processes = await findProcesses(stack, floor);

const job = { connections, seconds };
const floorJob: LoadJob = { ...job, url: `http://127.0.0.1:${port}`, requestsFile: paths };
const serviceJob: LoadJob = { ...job, url: stack.gatewayUrls[0] ?? '', requestsFile: tokens };
console.log('warming up');
await run(floorJob);
await run(serviceJob);
const rounds: { floor: Round; service: Round }[] = [];
for (let round = 1; round <= Number(options.rounds); round += 1) {
  rounds.push({ floor: await run(floorJob), service: await run(serviceJob) });
  console.log(`round ${round} of ${options.rounds}`);
}
console.log(report(rounds, options));
load.disconnect();
floor.disconnect();

async function run(loadJob: LoadJob): Promise<Round> {
  const before = readCpu();
  load.send(loadJob);
  const [result] = (await once(load, 'message')) as [LoadResult];
  const after = readCpu();
  const cpu = Object.fromEntries(
    Object.keys(after).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]),
  );
  return { ...result, cpu };
}

function readCpu(): Record<string, number> {
  return Object.fromEntries([...processes].map(([name, pid]) => [name, cpuSeconds(pid)]));
}

async function findProcesses(running: Stack, floorProcess: ChildProcess): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  if (floorProcess.pid !== undefined) found.set('floor', floorProcess.pid);
  for (const [name, { pid }] of running.processes) {
    if (pid !== null && name !== 'identity-provider') found.set(name, pid);
  }
  const [postmaster] = readFileSync(join(dataDirectory, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  found.set('postgres', Number(postmaster));
  if (running.redis.url !== null) {
    const redis = new Redis(running.redis.url);
    const pid = /process_id:(\d+)/.exec(await redis.info('server'))?.[1];
    redis.disconnect();
    if (pid !== undefined) found.set('redis', Number(pid));
  }
  return found;
}
