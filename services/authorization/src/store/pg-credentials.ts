import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { Unverified } from '@phds/service-kit/restore-witness';
import type pg from 'pg';
import type { AppStore } from '../app/ports.ts';
import type { App as AppRow } from './generated/client.ts';
import { fromAppRow } from './prisma-apps.ts';
import { JOIN_SUSPENSION, suspensionOf } from './restore-guard.ts';

type Row = AppRow & { readonly suspended: boolean; readonly unverified: boolean };

const FIND_CREDENTIAL = `
  SELECT app.client_id AS "clientId", app.owner_id AS "ownerId", app.name, app.description,
    app.homepage_url AS "homepageUrl", app.privacy_policy_url AS "privacyPolicyUrl", app.logo_url AS "logoUrl",
    app.redirect_uris AS "redirectUris", app.scopes, app.require_pkce AS "requirePkce", app.status, app.epoch,
    app.ledger_revision AS "ledgerRevision", app.status_changed_at AS "statusChangedAt", app.secret_hash AS "secretHash",
    app.secret_last4 AS "secretLast4", app.secret_rotated_at AS "secretRotatedAt",
    app.secret_restore_number AS "secretRestoreNumber", app.created_at AS "createdAt", app.updated_at AS "updatedAt",
    ${suspensionOf('app.secret_restore_number', '$2', '$3')}
  FROM app ${JOIN_SUSPENSION} WHERE app.client_id = $1`;

/** The look-up behind client authentication: a prepared statement, which judges restores in the snapshot it reads the secret in. */
export function createPgCredentials(pool: pg.Pool, guard: RestoreGuard): Pick<AppStore, 'findCredential'> {
  return translatingErrors({
    findCredential: (clientId) =>
      guard.verified(async () => {
        const values = [clientId, ...guard.witness];
        const { rows } = await pool.query<Row>({ name: 'find-credential', text: FIND_CREDENTIAL, values });
        const [row] = rows;
        if (row === undefined) return null;
        const { suspended, unverified, ...columns } = row;
        if (unverified) throw new Unverified();
        const app = fromAppRow(columns);
        return {
          app: suspended && app.status === 'active' ? { ...app, status: 'suspended' } : app,
          secretHash: row.secretHash,
        };
      }),
  });
}
