import { readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { ShownApp } from './app-profiles.ts';
import type { GrantTerms } from './terms.ts';

/** A scope in the words shown to the person. */
export interface ShownScope {
  readonly scope: string;
  readonly title: string;
  readonly description: string;
}

/** One event in the life of a grant. */
export type ConsentEvent = ApprovalEvent | OtherEvent;

interface EventTerms {
  readonly at: Date;
  /** The grant after this event. */
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
  readonly dataFrom: string | null;
}

/** An approval, with what the person was shown. */
export interface ApprovalEvent extends EventTerms {
  readonly kind: 'granted';
  readonly pendingId: string;
  readonly purpose: string;
  /** BCP 47. */
  readonly language: string;
  readonly shown: readonly ShownScope[];
  readonly shownApp: ShownApp;
}

interface OtherEvent extends EventTerms {
  readonly kind: 'narrowed' | 'revoked' | 'deletion_requested';
}

type Terms = 'scopes' | 'expiresAt' | 'dataFrom';
type NewEvent = (Omit<ApprovalEvent, Terms> | Omit<Exclude<ConsentEvent, ApprovalEvent>, Terms>) & {
  readonly grantId: string;
  /** The grant after the event. */
  readonly terms: GrantTerms;
};

const INSERT = readStatement(new URL('store/sql/insert-consent-event.sql', import.meta.url));

const NOTHING_SHOWN = { pendingId: null, purpose: '', language: '', shown: [], shownApp: null };

/** Adds an event to a grant's history, in the transaction that changes it. */
export async function addEvent(tx: pg.ClientBase, event: NewEvent): Promise<void> {
  const { grantId, kind, at, terms } = event;
  const { pendingId, purpose, language, shown, shownApp } = event.kind === 'granted' ? event : NOTHING_SHOWN;
  const approval = [pendingId, purpose, language, JSON.stringify(shown), shownApp];
  const after = [terms.scopes, terms.expiresAt, terms.dataFrom];
  await runStatement(tx, INSERT, grantId, at, kind, ...approval, ...after);
}
