import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { defaultDataDirectory } from '@phds/local-stack/data-directory';
import { type HalfRate, measureHalfRate } from './half-rate.ts';
import { prepareLargerReads } from './larger-reads.ts';
import { forkProgram, measureInTurn, type Side } from './measure.ts';
import type { Options } from './options.ts';
import { writeFloorPaths } from './prepare.ts';
import { type PreparedStack, prepareStack } from './prepare-stack.ts';
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
  using floor = await startFloor(prepared, options.users);
  const sides = { floor, service: side };
  const rounds = await measureInTurn(sides, options.rounds, console.log);
  const rate = median(rounds.map(({ service }) => service.perSecond));
  const halfRate = await measureHalfRate(side, rate, largerReads);
  return { rounds, base: 'floor', other: 'service', halfRate };
}

/** Starts the floor program on the database of a stack. */
export async function startFloor({ stack, side }: PreparedStack, users: number): Promise<Side & Disposable> {
  const floor = forkProgram('floor.ts', { DATABASE_URL: stack.databases['health-data'].url });
  const [{ port }] = (await once(floor, 'message')) as [{ port: number }];
  const requestsFile = join(dirname(side.job.requestsFile), `floor-${users}.txt`);
  writeFloorPaths(users, requestsFile);
  const processes = new Map([
    ['floor', floor.pid ?? 0],
    ['postgres', side.processes.get('postgres') ?? 0],
  ]);
  const job = { ...side.job, url: `http://127.0.0.1:${port}`, requestsFile };
  return { job, processes, [Symbol.dispose]: () => floor.disconnect() };
}
