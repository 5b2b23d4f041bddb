import { isScope } from '@phds/catalog/scopes';
import { translatingErrors } from '@phds/service-kit/postgres-errors';
import { readStatement } from '@phds/service-kit/statement';
import type pg from 'pg';
import type { AuthorizationStore } from '../app/ports.ts';
import type { AuthorizationCode } from '../domain/code.ts';

const FIND = readStatement(new URL('sql/find-code.sql', import.meta.url));

/** The look-up of every exchange. */
export function createPgCodes(pool: pg.Pool): Pick<AuthorizationStore, 'findCode'> {
  return translatingErrors({
    async findCode(hash) {
      const { rows } = await pool.query<AuthorizationCode>({ ...FIND, values: [hash] });
      const [row] = rows;
      return row === undefined ? null : { ...row, scopes: row.scopes.filter(isScope) };
    },
  });
}
