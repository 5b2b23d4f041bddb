import { benchFhir } from './fhir.ts';
import { benchHeart } from './heart.ts';
import { benchImport } from './import.ts';
import { createBenchCommand, type Options } from './options.ts';
import { benchPossession } from './possession.ts';
import { benchRevocation } from './revocation.ts';
import { benchTokens } from './tokens.ts';
import { benchWeb } from './web.ts';

const BENCHMARKS: Readonly<Record<string, (options: Options) => Promise<string>>> = {
  heart: benchHeart,
  fhir: benchFhir,
  possession: benchPossession,
  revocation: benchRevocation,
  import: benchImport,
  web: benchWeb,
  tokens: benchTokens,
};

if (process.platform !== 'linux') {
  console.error('Benchmarks read processor time and memory from /proc, so they run on Linux only.');
  process.exit(1);
}

await createBenchCommand(Object.keys(BENCHMARKS))
  .action(async (name: string, options: Options) => console.log(await BENCHMARKS[name]?.(options)))
  .parseAsync();
