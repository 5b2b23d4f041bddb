import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type pg from 'pg';
import type { WeightReader } from '../app/ports.ts';
import { TEXT_ROWS } from './database.ts';
import type { Statement } from './reading-list-sql.ts';
import { toWeightsByReadings, toWeightsByRollups } from './weight-sql.ts';

type Row = readonly [id: string | null, value: string, day: string, total: string, usable: string];

/** Weight entries out of the Weight readings: their days out of the rollups, or without usable ones out of the readings. */
export function createPgWeights(pool: pg.Pool): WeightReader {
  const ask = async (statement: Statement) => {
    const result = await pool.query<Row[]>({ ...TEXT_ROWS, ...statement });
    return result.rows as unknown as Row[];
  };
  return translatingErrors({
    async list(query) {
      const found = await ask(toWeightsByRollups(query));
      const rows = found[0]?.[4] === 't' ? found : await ask(toWeightsByReadings(query));
      const items = rows.flatMap(([id, value, date]) =>
        id === null ? [] : [{ id, weightKg: Number(value), date }],
      );
      return { items, total: Number(rows[0]?.[3] ?? 0) };
    },
  });
}
