import { batchingCalls, SHORT_READS } from '@phds/service-kit/batcher';
import type { Statement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/witness';
import type pg from 'pg';

type Key = string | Uint8Array;

/**
 * A look-up by key. Callers at the same time share statements, none of which began before they asked. The statement takes an array
 * of different keys and returns the rows that it finds, in any order.
 */
export function createLookUp<K extends Key, Row extends object, Found>(options: {
  readonly pool: pg.Pool;
  readonly guard: RestoreGuard;
  readonly statement: Statement;
  readonly keyOf: (row: Row) => K;
  readonly fromRow: (row: Row) => Found;
}): (key: K) => Promise<Found | null> {
  const { pool, guard, statement, keyOf, fromRow } = options;
  return batchingCalls(async (keys) => {
    const asked = new Map(keys.map((key) => [toText(key), key]));
    const values = [[...asked.values()]];
    const rows = await guard.verified(() => queryVerified<Row>(pool, guard, statement, values));
    const found = new Map(rows.map((row) => [toText(keyOf(row)), fromRow(row)]));
    return keys.map((key) => found.get(toText(key)) ?? null);
  }, SHORT_READS);
}

function toText(key: Key): string {
  return typeof key === 'string' ? key : Buffer.from(key).toString('base64');
}
