import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { defaultDataDirectory } from '@phds/dev-stack/data-directory';
import { type HalfRate, measureHalfRate } from './half-rate.ts';
import { prepareLargerReads } from './larger-reads.ts';
import { measureInTurn } from './measure.ts';
import type { Options } from './options.ts';
import { writeFloorPaths } from './prepare.ts';
import { prepareStack } from './prepare-stack.ts';
import { type Comparison, median, report } from './report.ts';

const STACK = 'bench';

export interface HeartResult extends Comparison<'floor' | 'service'> {
  readonly halfRate: HalfRate;
}

/** Reports the newest 20 heart readings of random users through the whole path, beside the floor program. */
export async function benchHeart(options: Options): Promise<string> {
  return report(await measureHeart(options), options);
}

/** Measures the floor program and the service on the same database in turn, and then the service at half its rate. */
export async function measureHeart(options: Options): Promise<HeartResult> {
  await using prepared = await prepareStack(STACK, options);
  const { stack, side } = prepared;
  const directory = join(defaultDataDirectory, STACK);
  const largerReads = options.beside ? await prepareLargerReads(stack, directory) : [];
  const floor = fork(join(import.meta.dirname, 'floor.ts'), {
    env: { ...process.env, DATABASE_URL: stack.databases['health-data'].url },
  });
  const [{ port }] = (await once(floor, 'message')) as [{ port: number }];
  const requestsFile = join(directory, `floor-${options.users}.txt`);
  writeFloorPaths(options.users, requestsFile);
  const floorProcesses = new Map([
    ['floor', floor.pid ?? 0],
    ['postgres', side.processes.get('postgres') ?? 0],
  ]);
  const sides = {
    floor: { job: { ...side.job, url: `http://127.0.0.1:${port}`, requestsFile }, processes: floorProcesses },
    service: side,
  };
  const rounds = await measureInTurn(sides, options.rounds, console.log);
  floor.disconnect();
  const rate = median(rounds.map(({ service }) => service.perSecond));
  const halfRate = await measureHalfRate(side, rate, largerReads);
  return { rounds, base: 'floor', other: 'service', halfRate };
}
