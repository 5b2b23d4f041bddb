import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { Unverified } from '@phds/service-kit/restore-witness';
import type { Statement } from '@phds/service-kit/statement';
import type pg from 'pg';

/**
 * Runs a statement whose rows say whether the database is unverified. Its last two values are the guard's witness. Throws
 * Unverified; call it within `guard.verified`.
 */
export async function queryVerified<Row extends object>(
  client: pg.ClientBase | pg.Pool,
  guard: RestoreGuard,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await client.query<Row & { readonly unverified: boolean }>({
    ...statement,
    values: [...values, ...guard.witness],
  });
  if (rows.some(({ unverified }) => unverified)) throw new Unverified();
  return rows;
}
