import { hash } from 'node:crypto';
import { METRICS } from '@phds/catalog/metrics';

/** Raised when the tables of the rollups or what their rows mean change. */
const LAYOUT = 1;

/** Names what rollups are made of: rows made for another version answer nothing and are rebuilt. */
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
