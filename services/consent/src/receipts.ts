import type { Clock } from '@phds/service-kit/clock';
import { queryRows, readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { ApprovalEvent, ConsentEvent } from './consent-events.ts';
import { found } from './grant-lists.ts';
import { findGrant, type Grant } from './grant-rows.ts';
import type { Signer } from './jose-signer.ts';

const LIST_EVENTS = readStatement(new URL('store/sql/list-consent-events.sql', import.meta.url));

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
      const grant = found(await findGrant(pool, grantId, { userId }));
      const events = await queryRows<ConsentEvent>(pool, LIST_EVENTS, grantId);
      return signer.sign(toReceipt(grant, events), clock.now());
    },
  };
}

const SCHEMA_VERSION = 'ISO/IEC TS 27560:2023';
const STATES = {
  granted: 'given',
  narrowed: 'narrowed',
  revoked: 'withdrawn',
  deletion_requested: 'deletion requested',
} as const;
/** How a grant ended, unless the person ended it, which is an event. */
const ENDINGS = {
  app: 'ended by the app',
  developer: 'terminated',
  operator: 'ended by an operator of the service',
  expiry: 'expired',
} as const;

/**
 * The content of a consent receipt: field names and sections (header, processing, parties, events) of ISO/IEC TS 27560:2023, clause
 * 6, limited to what this service knows. Texts, names and links are those shown at the decision, even if the catalog or the app has
 * changed since. Each purpose is one decision, whose `recipient` is the app as shown then; the header and `party_identification`
 * use the latest decision. Times are RFC 3339; `validity_duration` is an ISO 8601 duration.
 */
function toReceipt(grant: Grant, events: readonly ConsentEvent[]): Record<string, unknown> {
  const purposes = events
    .filter((event) => event.kind === 'granted')
    .map((event) => ({ event, recipient: toRecipient(event) }));
  const latest = purposes.at(-1);
  return {
    schema_version: SCHEMA_VERSION,
    record_id: grant.id,
    pii_principal_id: grant.userId,
    language: latest?.event.language ?? '',
    privacy_notice: latest?.recipient.privacy_notice ?? null,
    purposes: purposes.map(({ event, recipient }) => toPurpose(event, recipient)),
    recipient_third_parties: [grant.clientId],
    party_identification: latest === undefined ? [] : [toParty(grant.clientId, latest.recipient)],
    events: [...events.map(toEvent), ...endingOf(grant)].sort((one, other) =>
      one.event_time.localeCompare(other.event_time),
    ),
  };
}

/** An event on a receipt. */
interface ReceiptEvent {
  readonly event_time: string;
  readonly event_type: 'explicit' | 'implicit';
  readonly event_state: string;
  /** The terms after it; null if it is not about terms. */
  readonly validity_duration: string | null;
  readonly pii_types: readonly string[];
  readonly pii_since: string | null;
}

/** An app on a receipt. */
interface Recipient {
  readonly party_name: string;
  /** Who makes the app and what it is, in the developer's words; null when absent. */
  readonly party_developer: string | null;
  readonly party_description: string | null;
  readonly party_url: string | null;
  readonly privacy_notice: string | null;
  /** Host that received the response. */
  readonly redirect_host: string;
}

function toRecipient({ shownApp }: ApprovalEvent): Recipient {
  const { name, description, developerName, homepageUrl, privacyPolicyUrl, redirectHost } = shownApp;
  return {
    party_name: name,
    party_developer: toNullable(developerName),
    party_description: toNullable(description),
    party_url: toNullable(homepageUrl),
    privacy_notice: toNullable(privacyPolicyUrl),
    redirect_host: redirectHost,
  };
}

function toNullable(text: string): string | null {
  return text === '' ? null : text;
}

function toPurpose(event: ApprovalEvent, recipient: Recipient): Record<string, unknown> {
  return {
    purpose: toNullable(event.purpose),
    lawful_basis: 'consent',
    language: event.language,
    collection_method: 'approval screen',
    consent_request_id: event.pendingId,
    recipient,
    pii_information: event.shown.map((shown) => ({
      pii_type: shown.scope,
      pii_title: shown.title,
      pii_description: shown.description,
    })),
  };
}

function toParty(clientId: string, recipient: Recipient): Record<string, unknown> {
  const { party_name, party_developer, party_description, party_url } = recipient;
  return {
    party_id: clientId,
    party_name,
    party_role: 'recipient',
    party_developer,
    party_description,
    party_url,
  };
}

function toEvent(event: ConsentEvent): ReceiptEvent {
  const about = {
    event_time: event.at.toISOString(),
    event_type: 'explicit',
    event_state: STATES[event.kind],
  } as const;
  if (event.kind === 'deletion_requested') {
    return { ...about, validity_duration: null, pii_types: [], pii_since: null };
  }
  const seconds = Math.max(0, Math.round((event.expiresAt.getTime() - event.at.getTime()) / 1000));
  return {
    ...about,
    validity_duration: event.kind === 'revoked' ? 'PT0S' : `PT${seconds}S`,
    pii_types: event.kind === 'revoked' ? [] : event.scopes,
    pii_since: event.dataFrom,
  };
}

function endingOf({ endedBy, revokedAt, expiresAt }: Grant): ReceiptEvent[] {
  if (endedBy === null || endedBy === 'person') return [];
  return [
    {
      event_time: (revokedAt ?? expiresAt).toISOString(),
      event_type: 'implicit',
      event_state: ENDINGS[endedBy],
      validity_duration: 'PT0S',
      pii_types: [],
      pii_since: null,
    },
  ];
}
