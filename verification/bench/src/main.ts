import { benchAims } from './aims.ts';
import { benchCapacity } from './capacity/capacity.ts';
import { benchCheckpoints } from './checkpoints.ts';
import { benchCounts } from './counts.ts';
import { benchFlat } from './flat.ts';
import { benchHeart } from './heart.ts';
import { benchImport } from './import.ts';
import { benchMetrics } from './metrics.ts';
import { createBenchCommand, type Options } from './options.ts';
import { benchRecord } from './record.ts';
import { benchRevocation } from './revocation.ts';
import { benchScale } from './scale/scale.ts';
import { benchToken } from './token.ts';
import { benchTraces } from './traces.ts';
import { benchWeb } from './web.ts';
import { benchZones } from './zones.ts';

const BENCHMARKS: Readonly<Record<string, (options: Options) => Promise<string>>> = {
  heart: benchHeart,
  aims: benchAims,
  record: benchRecord,
  revocation: benchRevocation,
  import: benchImport,
  flat: benchFlat,
  web: benchWeb,
  checkpoints: benchCheckpoints,
  counts: benchCounts,
  zones: benchZones,
  token: benchToken,
  traces: benchTraces,
  metrics: benchMetrics,
  capacity: benchCapacity,
  scale: benchScale,
};

await createBenchCommand(Object.keys(BENCHMARKS))
  .action(async (name: string, options: Options) => console.log(await BENCHMARKS[name]?.(options)))
  .parseAsync();
