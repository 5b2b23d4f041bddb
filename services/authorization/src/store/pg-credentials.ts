import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { readStatement } from '@phds/service-kit/statement';
import type pg from 'pg';
import type { AppStore } from '../app/ports.ts';
import type { App as AppRow } from './generated/client.ts';
import { fromAppRow } from './prisma-apps.ts';
import { queryVerified } from './verified-query.ts';

type Row = AppRow & { readonly suspended: boolean; readonly unverified: boolean };

const FIND_CREDENTIAL = readStatement(new URL('sql/find-credential.sql', import.meta.url));

/** The look-up of client authentication: a prepared statement that judges restores in the same snapshot as the secret. */
export function createPgCredentials(pool: pg.Pool, guard: RestoreGuard): Pick<AppStore, 'findCredential'> {
  return translatingErrors({
    findCredential: (clientId) =>
      guard.verified(async () => {
        const row = await queryVerified<Row>(pool, guard, FIND_CREDENTIAL, [clientId]);
        if (row === undefined) return null;
        const { suspended, unverified: _unverified, ...columns } = row;
        const app = fromAppRow(columns);
        return {
          app: suspended && app.status === 'active' ? { ...app, status: 'suspended' } : app,
          secretHash: row.secretHash,
        };
      }),
  });
}
