// pnpm bench [heart|record] [--users 3000] [--readings 1000] [--connections 32] [--seconds 8] [--rounds 5] [--fresh]
import { benchHeart } from './heart.ts';
import { parseOptions } from './options.ts';
import { benchRecord } from './record.ts';

const BENCHMARKS = { heart: benchHeart, record: benchRecord };

const { name, options } = parseOptions(process.argv.slice(2));
const bench = BENCHMARKS[name as keyof typeof BENCHMARKS];
if (bench === undefined) {
  console.error(`no benchmark is called ${name}; there are: ${Object.keys(BENCHMARKS).join(', ')}`);
  process.exit(2);
}
console.log(await bench(options));
