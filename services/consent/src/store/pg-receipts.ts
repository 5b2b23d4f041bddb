import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { ReceiptStore } from '../app/ports.ts';
import type { Grant } from '../domain/grant.ts';
import type { ConsentEvent, Ending } from '../domain/receipt.ts';
import { selectGrants } from './grant-rows.ts';

/** The content of receipts, from the grant and its history in `consent_event`. */
export function createPgReceipts(pool: pg.Pool): ReceiptStore {
  return translatingErrors({
    async findReceipt(grantId, userId) {
      const [grant] = await selectGrants(pool, sql`g.id = ${grantId} AND g.user_id = ${userId}`);
      if (grant === undefined) return null;
      const events = await select<ConsentEvent>(pool)`
          SELECT kind, at, pending_id AS "pendingId", purpose, language, shown, shown_app AS "shownApp",
            scopes, expires_at AS "expiresAt", to_char(data_from, 'YYYY-MM-DD') AS "dataFrom"
          FROM consent_event WHERE grant_id = ${grantId} ORDER BY at, kind`;
      return {
        grantId,
        userId,
        clientId: grant.clientId,
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
