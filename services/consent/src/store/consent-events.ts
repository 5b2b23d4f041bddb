import { execute } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { GrantTerms } from '../domain/grant.ts';
import type { ConsentEvent } from '../domain/receipt.ts';

type NewEvent = Pick<ConsentEvent, 'kind' | 'at'> &
  Partial<Pick<ConsentEvent, 'pendingId' | 'purpose' | 'language' | 'shown' | 'shownApp'>> & {
    readonly grantId: string;
    /** The grant after the event. */
    readonly terms: GrantTerms;
  };

/** Adds an event to a grant's history, in the transaction that changes it. */
export async function addEvent(tx: pg.ClientBase, event: NewEvent): Promise<void> {
  const { grantId, kind, at, terms, pendingId = null, purpose = '', language = '', shown = [] } = event;
  const shownApp = event.shownApp == null ? null : JSON.stringify(event.shownApp);
  await execute(tx)`
    INSERT INTO consent_event (id, grant_id, at, kind, pending_id, purpose, language, shown, shown_app, scopes, expires_at,
      data_from)
    VALUES (gen_random_uuid(), ${grantId}, ${at}, ${kind}, ${pendingId}, ${purpose}, ${language},
      ${JSON.stringify(shown)}::jsonb, ${shownApp}::jsonb, ${terms.scopes}::text[], ${terms.expiresAt},
      ${terms.dataFrom}::date)`;
}
