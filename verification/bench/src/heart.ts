import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { defaultDataDirectory } from '@phds/dev-stack/data-directory';
import { measureInTurn } from './measure.ts';
import type { Options } from './options.ts';
import { writeFloorPaths } from './prepare.ts';
import { prepareStack } from './prepare-stack.ts';
import { report } from './report.ts';

/** Reads the newest 20 heart readings of random users through the whole path, compared with a floor program on the same database. */
export async function benchHeart(options: Options): Promise<string> {
  await using prepared = await prepareStack('bench', options);
  const floor = fork(join(import.meta.dirname, 'floor.ts'), {
    env: { ...process.env, DATABASE_URL: prepared.stack.databases['health-data'].url },
  });
  const [{ port }] = (await once(floor, 'message')) as [{ port: number }];
  const requestsFile = join(defaultDataDirectory, 'bench', `floor-${options.users}.txt`);
  writeFloorPaths(options.users, requestsFile);
  const { job, processes } = prepared.side;
  const postgres = processes.get('postgres') ?? 0;
  const floorProcesses = new Map([
    ['floor', floor.pid ?? 0],
    ['postgres', postgres],
  ]);
  const sides = {
    floor: { job: { ...job, url: `http://127.0.0.1:${port}`, requestsFile }, processes: floorProcesses },
    service: prepared.side,
  };
  const rounds = await measureInTurn(sides, options.rounds, console.log);
  floor.disconnect();
  return report(rounds, { base: 'floor', other: 'service', options });
}
