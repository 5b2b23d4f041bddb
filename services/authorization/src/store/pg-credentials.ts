import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import type { AppStore, Credential } from '../app/app-ports.ts';
import type { App as AppRow } from './generated/client.ts';
import { createLookUp } from './look-up.ts';
import { fromAppRow } from './prisma-apps.ts';

type Row = AppRow & {
  readonly suspended: boolean;
  readonly previousSuspended: boolean;
  readonly unverified: boolean;
};

const FIND_CREDENTIAL = readStatement(new URL('sql/find-credential.sql', import.meta.url));

/** The look-up of client authentication: a prepared statement that judges restores in the same snapshot as the secret. */
export function createPgCredentials(pool: pg.Pool, guard: RestoreGuard): Pick<AppStore, 'findCredential'> {
  return translatingErrors({
    findCredential: createLookUp({
      pool,
      guard,
      statement: FIND_CREDENTIAL,
      keyOf: ({ clientId }: Row) => clientId,
      fromRow,
    }),
  });
}

function fromRow({ suspended, previousSuspended, unverified: _unverified, ...row }: Row): Credential {
  const app = fromAppRow(row);
  const { secretHash, previousSecretHash: hash, previousSecretExpiresAt: expiresAt } = row;
  return {
    app: suspended && app.status === 'active' ? { ...app, status: 'suspended' } : app,
    secretHash,
    previous: hash === null || expiresAt === null || previousSuspended ? null : { hash, expiresAt },
  };
}
