/** Plays random histories: `node verification/protocol-model/bin/check-protocol.ts [--variant name] [--runs n] [--seed n] [--path p]`. */
import { parseArgs } from 'node:util';
import { check } from '../src/check.ts';
import { BROKEN_VARIANTS, type VariantName } from '../src/variants.ts';

const { values } = parseArgs({
  options: {
    variant: { type: 'string' },
    runs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    path: { type: 'string' },
  },
});

const { variant = null, path } = values;
if (!isVariant(variant))
  throw new Error(`no such variant; there are: ${Object.keys(BROKEN_VARIANTS).join(', ')}`);
const seed = Number(values.seed);
const result = check({ variant, runs: Number(values.runs), seed, ...(path === undefined ? {} : { path }) });
if (result.counterexample !== null) {
  console.log(result.counterexample.report);
  process.exitCode = 1;
} else {
  const { runs, requests, released, startedAfterRevocation } = result;
  console.log(`${runs} histories (seed ${seed}): no promise broken.`);
  console.log(
    `${requests} requests, ${released} with data, ${startedAfterRevocation} started after a revocation: 0 of these with data.`,
  );
}

function isVariant(name: string | null): name is VariantName | null {
  return name === null || Object.hasOwn(BROKEN_VARIANTS, name);
}
