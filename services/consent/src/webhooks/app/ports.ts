import type { Category } from '@phds/catalog/categories';
import type { Listed, Page } from '@phds/catalog/pagination';
import type { WebhookState } from '@phds/catalog/webhooks';
import type { OperatedEndpoint, WebhookEndpoint } from '../domain/endpoint.ts';
import type { LiveScopes, WebhookAttempt, WebhookDelivery, WebhookEvent } from '../domain/event.ts';

// As in ports.ts, every method commits before it returns, throws `unavailable` when the database is unavailable, and goes by the
// database's clock.

/** An app and the developer who asks. Somebody else's app is treated as unknown. */
export interface OwnedApp {
  readonly clientId: string;
  readonly ownerId: string;
}

/** The endpoints of apps, and the log of their deliveries, for their developers. */
export interface WebhookEndpointStore {
  /** `unknown` when there is no such app of this developer; null when it has no endpoint. */
  find(app: OwnedApp): Promise<WebhookEndpoint | null | 'unknown'>;
  /** Creates the endpoint with `newId`, or changes and enables the existing one, which keeps id and secret. Null for an unknown app. */
  put(
    app: OwnedApp,
    settings: Pick<WebhookEndpoint, 'url' | 'events'> & { readonly newId: string },
  ): Promise<{ readonly endpoint: WebhookEndpoint; readonly isNew: boolean } | null>;
  /** Removes the endpoint: nothing more is sent to it. Null when the app is unknown; also succeeds without an endpoint. */
  remove(app: OwnedApp): Promise<true | null>;
  /** Makes the next secret the current one; the one before signs as well for so many seconds. Null without an endpoint. */
  rotate(app: OwnedApp, overlapSeconds: number): Promise<WebhookEndpoint | null>;
  /** Adds a test, unless `decide` throws, which receives the number of tests in the last minute. Null without an endpoint. */
  addTest(app: OwnedApp, decide: (testsInLastMinute: number) => void): Promise<string | null>;
  /** Newest first, of every state when `state` is null. Null without an endpoint. */
  listDeliveries(
    app: OwnedApp,
    state: WebhookState | null,
    page: Page,
  ): Promise<Listed<WebhookDelivery> | null>;
  /** Makes an event of the app due now, as the last one of its grant. False when unknown. */
  redeliver(app: OwnedApp, eventId: string): Promise<boolean>;
}

/** The endpoints of all apps, by client id, and those of the deployment, by id, for operators. */
export interface OperatedWebhookStore {
  /** Those in trouble first. */
  list(page: Page): Promise<Listed<OperatedEndpoint>>;
  /** Null without an endpoint. */
  pause(clientId: string, isPaused: boolean): Promise<true | null>;
  /** Makes events due that were made since then, in their order. Returns how many; null without an endpoint. */
  redeliverSince(clientId: string, since: Date, states: readonly WebhookState[]): Promise<number | null>;
}

/** The deployment's own endpoints, as this process is configured. */
export interface HostEndpoints {
  /** Adds and changes them, enables those that were gone, and removes all others. */
  store(): Promise<void>;
}

/** An event that one sender is to deliver now. */
export interface ClaimedEvent {
  readonly event: WebhookEvent;
  readonly endpoint: Pick<WebhookEndpoint, 'id' | 'url' | 'secretVersion'> & {
    /** Whether the secret before signs as well. */
    readonly isOverlapping: boolean;
    readonly isFailing: boolean;
  };
  /** Identifies this claim. */
  readonly lease: string;
  /** Including this one. */
  readonly attempts: number;
  /** Milliseconds since the first attempt was due. */
  readonly ageMs: number;
  /** Of the grant of a `data.updated`. */
  readonly liveScopes: LiveScopes;
}

/** What follows an attempt. */
export type Outcome =
  | { readonly state: 'delivered' }
  /** `isGone`: nothing is sent to the endpoint any more. */
  | { readonly state: 'failed'; readonly isGone: boolean }
  | { readonly state: 'pending'; readonly waitMs: number };

/** What an attempt came to: the event was delivered, will be sent again, or never will; or its endpoint may no longer have it. */
export type Delivery = 'delivered' | 'retried' | 'failed' | 'grant_ended';

/** Pending events, and for how long the oldest of them has been due, at an endpoint of an app that does not fail, or of the deployment; null when none is. */
export interface PendingEvents {
  readonly pending: number;
  readonly oldestDueMs: number | null;
}

export interface ClaimLimits {
  /** The endpoints that are checked. */
  readonly endpoints: Iterable<string>;
  readonly events: number;
  /** How many of these may be `data.updated`. */
  readonly lateEvents: number;
  /** Endpoints that take long to answer, and how many events more may be claimed of these. */
  readonly slow: ReadonlySet<string>;
  readonly slowEvents: number;
  /** Events in delivery at once to one endpoint; one to an endpoint that is failing. */
  readonly perEndpoint: number;
  /** Events in delivery at once to the fast endpoints of one owner, to its slow ones, and to those of one host in the same way. */
  readonly perShare: number;
  /** Events that this sender is delivering now, by endpoint. */
  readonly busy: ReadonlyMap<string, number>;
  /** How long nobody else may claim them. */
  readonly leaseMs: number;
}

/** The events that are to be delivered, shared by all senders. */
export interface WebhookQueue {
  /**
   * Endpoints with due events, at most `size`. Those with others than `data.updated` come first, else at random. With `newWithinMs` only
   * those with events of the last milliseconds, at a cost that does not grow with the number of endpoints.
   */
  findDue(size: number, newWithinMs?: number): Promise<string[]>;
  /** Those of the endpoints that have due events. */
  findDueAmong(endpoints: readonly string[]): Promise<string[]>;
  /** Claims due events, at most one of a grant: the oldest that is pending. */
  claim(limits: ClaimLimits): Promise<ClaimedEvent[]>;
  /** Stores what came of a claim. Does nothing if the event was claimed again or removed meanwhile. */
  recordOutcome(claimed: ClaimedEvent, attempt: WebhookAttempt, outcome: Outcome): Promise<void>;
  /** Gives a claim back: the event is due now. */
  release(claimed: ClaimedEvent): Promise<void>;
  measure(): Promise<PendingEvents>;
}

/** Signs what is sent to endpoints. */
export interface WebhookSecrets {
  /** The secret as its developer configures it: `whsec_…`. */
  secretOf(endpointId: string, version: number): string;
  /** The value of `webhook-signature`. */
  sign(
    endpoint: Pick<ClaimedEvent['endpoint'], 'id' | 'secretVersion' | 'isOverlapping'>,
    message: { readonly id: string; readonly timestamp: number; readonly body: string },
  ): string;
}

export interface EventRequest {
  readonly endpointId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface EventPoster {
  /** Sends one request and waits for the answer, for a limited time. The endpoints of apps must have public addresses. Never rejects, unless the signal is aborted. */
  post(request: EventRequest, signal: AbortSignal): Promise<Pick<WebhookAttempt, 'status' | 'failure'>>;
  /** Whether a host may be requested, as far as its name tells: an address must be public. */
  mayRequest(url: string): boolean;
}

/** Grants that ended without a statement about each, and that are about to. */
export interface WebhookCauseStore {
  /** Adds events for the next grants that have expired, at most `size`. False when there are no more, or another instance does it. */
  addExpired(size: number): Promise<boolean>;
  /**
   * Adds `connection.ending` for the next grants that end in so many days, one of WARNED_DAYS. Not for an end that was set less than
   * twice as long ahead: its person chose it recently. False as above.
   */
  addEnding(daysLeft: number, size: number): Promise<boolean>;
  /** Adds events for the next grants that ended with their app's revocation. False as above. */
  addRevokedWithApp(size: number): Promise<boolean>;
}

/** A change of a person's readings of one category. */
export interface DataChange {
  readonly userId: string;
  readonly category: Category;
  readonly at: Date;
  /** The latest time of the changed readings, new or removed. */
  readonly latestReadingAt: Date;
}

export interface DataEventTimes {
  /** How long an event collects changes. */
  readonly delayMs: number;
  /** The shortest time from one event of a grant to the next. */
  readonly spacingMs: number;
}

export interface DataChangeStore {
  /**
   * Adds `data.updated` for the live grants that share the category and, with a day's margin for time zones, the time of a changed reading.
   * It is due after `delayMs`, and `spacingMs` after the one before was due, and takes up the changes reported until it is sent. An app without an endpoint gets none.
   */
  add(changes: readonly DataChange[], times: DataEventTimes): Promise<void>;
}

/** What health-data reports. Reporting a change twice makes at most one event more. */
export interface DataChanges {
  report(changes: readonly DataChange[]): Promise<void>;
}

export function createDataChanges(dependencies: {
  readonly changes: DataChangeStore;
  readonly times: DataEventTimes;
}): DataChanges {
  const { changes: store, times } = dependencies;
  return { report: (changes) => store.add(changes, times) };
}
