import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { Unverified } from '@phds/service-kit/restore-witness';
import type { Statement } from '@phds/service-kit/statement';
import type pg from 'pg';

/**
 * Runs a statement of at most one row, which says whether the database is unverified. The last two values of the statement are
 * the guard's witness. Throws Unverified; call it within `guard.verified`.
 */
export async function queryVerified<Row extends object>(
  client: pg.ClientBase | pg.Pool,
  guard: RestoreGuard,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row | undefined> {
  const { rows } = await client.query<Row & { readonly unverified: boolean }>({
    ...statement,
    values: [...values, ...guard.witness],
  });
  const [row] = rows;
  if (row?.unverified === true) throw new Unverified();
  return row;
}
