import { benchAims } from './aims.ts';
import { benchCapacity } from './capacity/capacity.ts';
import { benchHeart } from './heart.ts';
import { benchImport } from './import.ts';
import { benchInterleaved } from './interleaved.ts';
import { createBenchCommand, type Options } from './options.ts';
import { benchBatchers } from './pressure/batchers.ts';
import { benchEarlyRenewals } from './pressure/early-renewals.ts';
import { benchHidden } from './pressure/hidden.ts';
import { benchOpenings } from './pressure/openings.ts';
import { benchPipelining } from './pressure/pipelining.ts';
import { benchReceivers } from './pressure/receivers.ts';
import { benchRevocation } from './revocation.ts';
import { benchWeb } from './web.ts';

const BENCHMARKS: Readonly<Record<string, (options: Options) => Promise<string>>> = {
  heart: benchHeart,
  aims: benchAims,
  revocation: benchRevocation,
  import: benchImport,
  web: benchWeb,
  interleaved: benchInterleaved,
  capacity: benchCapacity,
  pipelining: benchPipelining,
  openings: benchOpenings,
  batchers: benchBatchers,
  'early-renewals': benchEarlyRenewals,
  hidden: benchHidden,
  receivers: benchReceivers,
};

if (process.platform !== 'linux') {
  console.error('Benchmarks read processor time and memory from /proc, so they run on Linux only.');
  process.exit(1);
}

await createBenchCommand(Object.keys(BENCHMARKS))
  .action(async (name: string, options: Options) => console.log(await BENCHMARKS[name]?.(options)))
  .parseAsync();
