import { METRICS, type Metric } from '@phds/catalog/metrics';
import { readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';

// Summaries are made from quarter hours of UTC, by type and source: every zone's hours and days begin at a whole quarter hour. The transaction
// that changes readings recomputes those that it touched from the readings, because a changed reading may have been the minimum. They depend on
// the catalog's reference ranges of average types, and on what counts of a type, its start or its end: who changes these
// there writes a migration that computes the rows anew.

const REFRESH = readStatement(new URL('sql/refresh-quarters.sql', import.meta.url));

const keysOf = (metrics: readonly Metric[]) => metrics.map(({ key }) => key);

/** Types whose readings count where they end. */
export const TYPES_BY_END = keysOf(METRICS.filter(({ bucketBy }) => bucketBy === 'end'));

const judged = METRICS.filter(({ kind, referenceRange }) => kind === 'average' && referenceRange !== null);

/** As three columns: type, low, high. */
const RANGES = [
  keysOf(judged),
  judged.map(({ referenceRange }) => referenceRange?.low),
  judged.map(({ referenceRange }) => referenceRange?.high),
];

/** What a statement wrote: numbers of readings, and the quarter hours in which they count as columns, null for none. */
export interface Written {
  readonly number: number;
  readonly inserted: number;
  readonly types: string | null;
  readonly quarters: string | null;
  readonly sources: string | null;
}

/** Recomputes the touched quarter hours. Part of the write, which is the only one of the person. */
export async function refreshQuarters(
  client: pg.ClientBase,
  userId: string,
  { types, quarters, sources }: Written,
): Promise<void> {
  if (types === null) return;
  await runStatement(client, REFRESH, userId, TYPES_BY_END, ...RANGES, types, quarters, sources);
}
