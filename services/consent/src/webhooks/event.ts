import type { Category } from '@phds/catalog/categories';
import { scopeOfCategory } from '@phds/catalog/endpoints';
import type { Scope } from '@phds/catalog/scopes';
import type { HostEvent, WebhookFailure, WebhookType } from '@phds/catalog/webhooks';
import type { GrantEnder } from '@phds/catalog/wire-names';
import { toSub } from '../grant-rows.ts';

/** What an event says beside grant and person: never health data, never tokens. Times are ISO 8601 texts. */
export interface EventContent {
  readonly endedBy?: GrantEnder;
  readonly scopes?: readonly Scope[];
  readonly expiresAt?: string;
  /** `YYYY-MM-DD`; null for no limit. */
  readonly dataFrom?: string | null;
  readonly categories?: readonly Category[];
  readonly lastDataAt?: string;
  readonly requestedAt?: string;
  /** This and the following for the deployment only. */
  readonly userId?: string;
  readonly app?: { readonly clientId: string; readonly name: string };
  readonly before?: Pick<EventContent, 'scopes' | 'expiresAt' | 'dataFrom'>;
  readonly daysLeft?: number;
}

/** An event for an app or the deployment. */
export interface WebhookEvent {
  readonly id: string;
  readonly type: WebhookType | HostEvent;
  readonly createdAt: Date;
  /** Null for a test. */
  readonly grantId: string | null;
  /** Null for a test, and for the deployment. */
  readonly sub: string | null;
  readonly content: EventContent;
}

/** One attempt to deliver an event. */
export interface WebhookAttempt {
  readonly at: Date;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Null when it was accepted. */
  readonly failure: WebhookFailure | null;
  readonly ms: number;
}

/** The request body of an event, as Standard Webhooks describes it. */
export function toEventBody({ type, createdAt, grantId, sub, content }: WebhookEvent): string {
  const data = grantId === null ? {} : { grantId, ...(sub !== null && { sub }), ...content };
  return JSON.stringify({ type, timestamp: createdAt.toISOString(), data });
}

/** The live scopes of the grant of a `data.updated`; null when it has ended. */
export type LiveScopes = readonly Scope[] | null;

/** The event without categories that the grant does not share any more; null when none remains. */
export function limitToShared(event: WebhookEvent, scopes: LiveScopes): WebhookEvent | null {
  if (event.type !== 'data.updated') return event;
  const categories = (event.content.categories ?? []).filter((category) =>
    scopes?.includes(scopeOfCategory(category)),
  );
  return categories.length === 0 ? null : { ...event, content: { ...event.content, categories } };
}

/** What its developer may see of an event that was not delivered: as much as would be sent now. */
export function limitUndelivered(event: WebhookEvent, scopes: LiveScopes): WebhookEvent {
  return limitToShared(event, scopes) ?? { ...event, content: { categories: [] } };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The waits after the first failed attempts; after that, the last one again. */
const WAITS_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 12 * HOUR] as const;

/** An event is given up when the next attempt would be later than this after the first. */
const GIVE_UP_AFTER_MS = 72 * HOUR;

/** By how much a wait is longer at most, so that events that failed together do not return together. */
const JITTER = 0.1;

/**
 * How long to wait after the failure of attempt number `attempts`, made `ageMs` after the first could have been made; null to give up.
 * `random` is from 0 to 1.
 */
export function waitAfter(attempts: number, ageMs: number, random: number): number | null {
  const wait = WAITS_MS[Math.min(attempts, WAITS_MS.length) - 1] ?? WAITS_MS[0];
  const jittered = Math.round(wait * (1 + JITTER * random));
  return ageMs + jittered > GIVE_UP_AFTER_MS ? null : jittered;
}

export interface EventRow extends Omit<WebhookEvent, 'sub'> {
  readonly subHash: Uint8Array | null;
}

export function toEvent({ id, type, createdAt, grantId, subHash, content }: EventRow): WebhookEvent {
  return { id, type, createdAt, grantId, sub: subHash === null ? null : toSub(subHash), content };
}
