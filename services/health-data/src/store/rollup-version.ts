import { hash } from 'node:crypto';
import { METRICS } from '@phds/catalog/metrics';

/** Incremented when the rollup tables or the meaning of their rows change. */
const LAYOUT = 1;

/** Identifies how rollups are computed. Rows of another version are not used and are rebuilt. */
export const ROLLUP_VERSION = hash(
  'sha256',
  JSON.stringify([
    LAYOUT,
    METRICS.map(({ key, kind, bucketBy, decimals, referenceRange }) => {
      return [key, kind, bucketBy, decimals, referenceRange?.low, referenceRange?.high];
    }),
  ]),
  'hex',
).slice(0, 16);
