import { execute } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { GrantTerms } from '../domain/grant.ts';
import type { ApprovalEvent, ConsentEvent } from '../domain/receipt.ts';

type Terms = 'scopes' | 'expiresAt' | 'dataFrom';
type NewEvent = (Omit<ApprovalEvent, Terms> | Omit<Exclude<ConsentEvent, ApprovalEvent>, Terms>) & {
  readonly grantId: string;
  /** The grant after the event. */
  readonly terms: GrantTerms;
};

const NOTHING_SHOWN = { pendingId: null, purpose: '', language: '', shown: [], shownApp: null };

/** Adds an event to a grant's history, in the transaction that changes it. */
export async function addEvent(tx: pg.ClientBase, event: NewEvent): Promise<void> {
  const { grantId, kind, at, terms } = event;
  const { pendingId, purpose, language, shown, shownApp } = event.kind === 'granted' ? event : NOTHING_SHOWN;
  await execute(tx)`
    INSERT INTO consent_event (id, grant_id, at, kind, pending_id, purpose, language, shown, shown_app, scopes, expires_at,
      data_from)
    VALUES (gen_random_uuid(), ${grantId}, ${at}, ${kind}, ${pendingId}, ${purpose}, ${language},
      ${JSON.stringify(shown)}::jsonb, ${shownApp === null ? null : JSON.stringify(shownApp)}::jsonb, ${terms.scopes}::text[], ${terms.expiresAt},
      ${terms.dataFrom}::date)`;
}
