import type { Clock } from '@phds/service-kit/clock';
import { notFound } from '@phds/service-kit/errors';
import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { Signer } from './clients/jose-signer.ts';
import type { Grant } from './domain/grant.ts';
import { type ConsentEvent, type Ending, toReceipt } from './domain/receipt.ts';
import { selectGrants } from './grant-rows.ts';

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool };
  readonly signer: Signer;
  readonly clock: Clock;
}

export type Receipts = ReturnType<typeof createReceipts>;

/** Consent receipts, from the grant and its history in `consent_event`. */
export function createReceipts({ pools: { ordinary: pool }, signer, clock }: Parts) {
  return {
    /** The current receipt, signed. Throws `not_found`. */
    async get(grantId: string, userId: string): Promise<string> {
      const [grant] = await selectGrants(pool, sql`g.id = ${grantId} AND g.user_id = ${userId}`);
      if (grant === undefined) throw notFound();
      const events = await select<ConsentEvent>(pool)`
          SELECT kind, at, pending_id AS "pendingId", purpose, language, shown, shown_app AS "shownApp",
            scopes, expires_at AS "expiresAt", to_char(data_from, 'YYYY-MM-DD') AS "dataFrom"
          FROM consent_event WHERE grant_id = ${grantId} ORDER BY at, kind`;
      const facts = { grantId, userId, clientId: grant.clientId, ending: toEnding(grant), events };
      return signer.sign(toReceipt(facts), clock.now());
    },
  };
}

/** An end by the person is an event of its own. */
function toEnding({ endedBy, revokedAt, expiresAt }: Grant): Ending | null {
  if (endedBy === null || endedBy === 'person') return null;
  return { by: endedBy, at: revokedAt ?? expiresAt };
}
