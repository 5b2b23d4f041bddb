import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { ReceiptStore } from '../app/ports.ts';
import type { Grant } from '../domain/grant.ts';
import type { ConsentEvent, Ending } from '../domain/receipt.ts';
import type { ProfileVersion } from '../domain/shown-app.ts';
import { selectGrants } from './grant-rows.ts';

/** The content of receipts, from the grant and its history in `consent_event`. */
export function createPgReceipts(pool: pg.Pool): ReceiptStore {
  return translatingErrors({
    async findReceipt(grantId, userId) {
      const [grant] = await selectGrants(pool, sql`g.id = ${grantId} AND g.user_id = ${userId}`);
      if (grant === undefined) return null;
      const events = await select<ConsentEvent>(pool)`
          SELECT kind, at, coalesce(pending_id, '') AS "pendingId", purpose, language, shown, shown_app AS "shownApp",
            scopes, expires_at AS "expiresAt", to_char(data_from, 'YYYY-MM-DD') AS "dataFrom"
          FROM consent_event WHERE grant_id = ${grantId} ORDER BY at, kind`;
      return {
        grantId,
        userId,
        clientId: grant.clientId,
        oldestProfile: await getOldestProfile(pool, grant.clientId),
        ending: toEnding(grant),
        events,
      };
    },
  });
}

/** An end by the person is an event of its own. */
function toEnding({ endedBy, revokedAt, expiresAt }: Grant): Ending | null {
  if (endedBy === null || endedBy === 'person') return null;
  return { by: endedBy, at: revokedAt ?? expiresAt };
}

/** The first version of an app; its current profile if an earlier release registered it since the last upgrade. */
async function getOldestProfile(pool: pg.Pool, clientId: string): Promise<ProfileVersion> {
  const [oldest] = await select<ProfileVersion>(pool)`
    SELECT coalesce(o.version, 0) AS version, coalesce(o.since, statement_timestamp()) AS since,
      coalesce(o.name, a.name) AS name, o.description, o.developer_name AS "developerName",
      coalesce(o.homepage_url, a.homepage_url) AS "homepageUrl",
      coalesce(o.privacy_policy_url, a.privacy_policy_url) AS "privacyPolicyUrl"
    FROM app a LEFT JOIN app_profile o ON o.client_id = a.client_id AND o.version = 1 WHERE a.client_id = ${clientId}`;
  if (oldest === undefined) throw new Error(`the app ${clientId} of a grant is gone`);
  return oldest;
}
