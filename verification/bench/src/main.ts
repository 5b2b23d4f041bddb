// pnpm bench [heart|record|revocation|import|flat|web|checkpoints|zones] [--users 3000] [--readings 1000] [--seconds 8] [--fresh]
//   heart, record: [--connections 32] [--rounds 5]    revocation: [--rate 500] [--revocations 16]
//   import: [--rate 500] [--records 1000000]
//   web, zones: [--rounds 5]
//   checkpoints: [--days 90] [--replicas 10] [--earlier]
//   flat, which has users of its own: [--largest 10000000]
import { benchCheckpoints } from './checkpoints.ts';
import { benchFlat } from './flat.ts';
import { benchHeart } from './heart.ts';
import { benchImport } from './import.ts';
import { parseOptions } from './options.ts';
import { benchRecord } from './record.ts';
import { benchRevocation } from './revocation.ts';
import { benchWeb } from './web.ts';
import { benchZones } from './zones.ts';

const BENCHMARKS = {
  heart: benchHeart,
  record: benchRecord,
  revocation: benchRevocation,
  import: benchImport,
  flat: benchFlat,
  web: benchWeb,
  checkpoints: benchCheckpoints,
  zones: benchZones,
};

const { name, options } = parseOptions(process.argv.slice(2));
const bench = BENCHMARKS[name as keyof typeof BENCHMARKS];
if (bench === undefined) {
  console.error(`no benchmark is called ${name}; there are: ${Object.keys(BENCHMARKS).join(', ')}`);
  process.exit(2);
}
console.log(await bench(options));
