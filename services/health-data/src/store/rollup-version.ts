import { hash } from 'node:crypto';
import { METRICS } from '@phds/catalog/metrics';

/** Incremented when the rollup tables or the meaning of their rows change. */
const LAYOUT = 1;

/** Identifies how rollups are computed now. */
export const ROLLUP_BASIS: string = hash(
  'sha256',
  JSON.stringify([
    LAYOUT,
    METRICS.map(({ key, kind, bucketBy, decimals, referenceRange }) => {
      return [key, kind, bucketBy, decimals, referenceRange?.low, referenceRange?.high];
    }),
  ]),
  'hex',
).slice(0, 16);

/**
 * Every version of rollups, the newest first. When ROLLUP_BASIS changes, its new value is added. A version that is not listed is of a newer
 * release. Only rows of the first version are used.
 */
export const ROLLUP_VERSIONS: readonly [string, ...string[]] = ['b2a8e7717ea37193'];

export const [ROLLUP_VERSION] = ROLLUP_VERSIONS;
