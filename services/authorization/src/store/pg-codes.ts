import { isScope } from '@phds/catalog/scopes';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import type { AuthorizationStore } from '../app/ports.ts';
import type { AuthorizationCode } from '../domain/code.ts';
import { createLookUp } from './look-up.ts';

const FIND = readStatement(new URL('sql/find-code.sql', import.meta.url));

/** The look-up of every exchange. */
export function createPgCodes(pool: pg.Pool, guard: RestoreGuard): Pick<AuthorizationStore, 'findCode'> {
  return translatingErrors({
    findCode: createLookUp({ pool, guard, statement: FIND, keyOf: ({ hash }: Row) => hash, fromRow }),
  });
}

type Row = AuthorizationCode & { readonly unverified: boolean };

function fromRow({ unverified: _unverified, ...row }: Row): AuthorizationCode {
  return { ...row, scopes: row.scopes.filter(isScope) };
}
