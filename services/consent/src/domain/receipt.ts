import type { AppProfile } from './app.ts';
import type { GrantStatus } from './grant.ts';

/** A scope in the words that the person read. */
export interface ShownScope {
  readonly scope: string;
  readonly title: string;
  readonly description: string;
}

/** One step in the life of a grant. */
export interface ConsentEvent {
  readonly kind: 'granted' | 'narrowed' | 'revoked';
  readonly at: Date;
  /** The next four belong to `granted`; empty otherwise. */
  readonly pendingId: string;
  readonly purpose: string;
  /** BCP 47. */
  readonly language: string;
  readonly shown: readonly ShownScope[];
  /** The grant after this step. */
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
  readonly dataFrom: string | null;
}

/** What a receipt tells. Events come oldest first; the first is always `granted`. */
export interface ReceiptFacts {
  readonly grantId: string;
  readonly userId: string;
  readonly app: AppProfile;
  readonly status: GrantStatus;
  readonly expiresAt: Date;
  /** Set when the revocation of the app ended the grant: no event of the grant's own says so. */
  readonly endedByAppAt: Date | null;
  readonly events: readonly ConsentEvent[];
}

const SCHEMA_VERSION = 'ISO/IEC TS 27560:2023';
const STATES = { granted: 'given', narrowed: 'narrowed', revoked: 'withdrawn' } as const;

/**
 * The content of a consent receipt: field names and sections (header, processing, parties, events) of ISO/IEC TS 27560:2023,
 * clause 6, restricted to what this service knows. Texts are those the person read when deciding, also after the catalog's
 * words have changed. Times are RFC 3339; `validity_duration` is an ISO 8601 duration.
 */
export function toReceipt(facts: ReceiptFacts): Record<string, unknown> {
  const decisions = facts.events.filter((event) => event.kind === 'granted');
  const latest = decisions.at(-1);
  return {
    schema_version: SCHEMA_VERSION,
    record_id: facts.grantId,
    pii_principal_id: facts.userId,
    language: latest?.language ?? '',
    privacy_notice: facts.app.privacyPolicyUrl === '' ? null : facts.app.privacyPolicyUrl,
    purposes: decisions.map(toPurpose),
    recipient_third_parties: [facts.app.clientId],
    party_identification: [toParty(facts.app)],
    events: [...facts.events.map(toEvent), ...endingOf(facts)],
  };
}

function toPurpose(event: ConsentEvent): Record<string, unknown> {
  return {
    purpose: event.purpose === '' ? null : event.purpose,
    lawful_basis: 'consent',
    language: event.language,
    collection_method: 'approval screen',
    consent_request_id: event.pendingId,
    pii_information: event.shown.map((shown) => ({
      pii_type: shown.scope,
      pii_title: shown.title,
      pii_description: shown.description,
    })),
  };
}

function toParty(app: AppProfile): Record<string, unknown> {
  return {
    party_id: app.clientId,
    party_name: app.name,
    party_role: 'recipient',
    party_url: app.homepageUrl === '' ? null : app.homepageUrl,
  };
}

function toEvent(event: ConsentEvent): Record<string, unknown> {
  const seconds = Math.max(0, Math.round((event.expiresAt.getTime() - event.at.getTime()) / 1000));
  return {
    event_time: event.at.toISOString(),
    event_type: 'explicit',
    event_state: STATES[event.kind],
    validity_duration: event.kind === 'revoked' ? 'PT0S' : `PT${seconds}S`,
    pii_types: event.kind === 'revoked' ? [] : event.scopes,
    pii_since: event.dataFrom,
  };
}

function endingOf(facts: ReceiptFacts): Record<string, unknown>[] {
  const ended = { event_type: 'implicit', validity_duration: 'PT0S', pii_types: [], pii_since: null };
  if (facts.endedByAppAt !== null) {
    return [{ ...ended, event_time: facts.endedByAppAt.toISOString(), event_state: 'terminated' }];
  }
  if (facts.status !== 'expired') return [];
  return [{ ...ended, event_time: facts.expiresAt.toISOString(), event_state: 'expired' }];
}
