import { queryRows, readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { type EventRow, type LiveScopes, toEvent, type WebhookAttempt, type WebhookEvent } from './event.ts';

/** An event that one sender is to deliver now. */
export interface ClaimedEvent {
  readonly event: WebhookEvent;
  readonly endpoint: {
    readonly id: string;
    readonly url: string;
    readonly secretVersion: number;
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

const CLAIM = readStatement(new URL('../store/sql/claim-events.sql', import.meta.url));
const RECORD_OUTCOME = readStatement(new URL('../store/sql/record-outcome.sql', import.meta.url));
const RELEASE = readStatement(new URL('../store/sql/release-claim.sql', import.meta.url));
const MEASURE = readStatement(new URL('../store/sql/measure-pending.sql', import.meta.url));
const END_OUTAGE = readStatement(new URL('../store/sql/end-outage.sql', import.meta.url));
const FIND_DUE = readStatement(new URL('../store/sql/find-due-endpoints.sql', import.meta.url));
const FIND_NEW = readStatement(new URL('../store/sql/find-new-endpoints.sql', import.meta.url));
/** `data.updated` last. */
const RESUMES = ['../store/sql/resume-other-events.sql', '../store/sql/resume-data-events.sql'].map((file) =>
  readStatement(new URL(file, import.meta.url)),
);

/** After so long without an accepted attempt, the first accepted one makes the waiting events due. */
const OUTAGE_SECONDS = 60;
/** Events made due by one statement, and the number of such statements for each kind of event. */
const RESUMED_AT_ONCE = 1_000;
const MOST_RESUMES = 200;

export type WebhookQueue = ReturnType<typeof createWebhookQueue>;

/**
 * The events in `webhook_event` that are to be delivered, shared by all senders. A claim is a lease: when it ends without an outcome, any
 * sender takes the event over.
 */
export function createWebhookQueue(pool: pg.Pool) {
  return {
    /**
     * Endpoints with due events, at most `size`. Those with others than `data.updated` come first, else at random. With `newWithinMs` only
     * those with events of so many last milliseconds, at a cost that does not grow with the number of endpoints.
     */
    findDue: (size: number, newWithinMs?: number) => findDue(pool, size, newWithinMs),
    /** Claims due events, at most one of a grant: the oldest that is pending. */
    claim: (limits: ClaimLimits) => claim(pool, limits),
    /** Stores what came of a claim. Does nothing if the event was claimed again or removed meanwhile. */
    async recordOutcome(claimed: ClaimedEvent, attempt: WebhookAttempt, outcome: Outcome): Promise<void> {
      await recordOutcome(pool, claimed, attempt, outcome);
      if (outcome.state === 'delivered' && claimed.endpoint.isFailing)
        await endOutage(pool, claimed.endpoint.id);
    },
    /** Gives a claim back: the event is due now. */
    async release({ event, lease }: ClaimedEvent): Promise<void> {
      await runStatement(pool, RELEASE, event.id, lease);
    },
  };
}

/** Reads all pending events, so not on connections whose planner settings are those of key look-ups. */
export async function measurePending(pool: pg.Pool): Promise<PendingEvents> {
  const [row] = await queryRows<PendingEvents>(pool, MEASURE);
  return row ?? { pending: 0, oldestDueMs: null };
}

async function recordOutcome(
  pool: pg.Pool,
  { event, endpoint, lease }: ClaimedEvent,
  { at, status, failure, ms }: WebhookAttempt,
  outcome: Outcome,
): Promise<void> {
  const waitSeconds = outcome.state === 'pending' ? outcome.waitMs / 1_000 : null;
  const isFailure = failure !== null && failure !== 'grant_ended';
  const disabledReason = outcome.state === 'failed' && outcome.isGone ? 'gone' : null;
  const settled = [event.id, lease, outcome.state, waitSeconds];
  const attempt = [at, status, failure, ms];
  await runStatement(pool, RECORD_OUTCOME, ...settled, ...attempt, endpoint.id, isFailure, disabledReason);
}

/**
 * After an outage, events that waited for their next attempt are due at once: `data.updated` last, and not before its own time. Ends
 * early when the endpoint fails again.
 */
async function endOutage(pool: pg.Pool, endpointId: string): Promise<void> {
  const [ended] = await queryRows<{ wasLong: boolean }>(pool, END_OUTAGE, endpointId, OUTAGE_SECONDS);
  if (ended?.wasLong !== true) return;
  for (const resume of RESUMES) {
    let resumed = RESUMED_AT_ONCE;
    for (let run = 0; run < MOST_RESUMES && resumed === RESUMED_AT_ONCE; run += 1) {
      resumed = await runStatement(pool, resume, endpointId, RESUMED_AT_ONCE);
    }
  }
}

interface ClaimedRow
  extends EventRow,
    Omit<ClaimedEvent, 'event' | 'endpoint'>,
    Omit<ClaimedEvent['endpoint'], 'id'> {
  readonly endpointId: string;
}

/**
 * Claims again when all that was read waits for earlier events, because the next claim reads others. An event that a change moved to a new
 * endpoint during the statement has no `url`; it is claimed again when its lease ends.
 */
async function claim(pool: pg.Pool, limits: ClaimLimits): Promise<ClaimedEvent[]> {
  for (;;) {
    const rows = await queryRows<ClaimedRow | { readonly url: null }>(pool, CLAIM, ...toClaimValues(limits));
    const claimed = rows.filter((row) => row.url !== null);
    if (claimed.length > 0 || rows.length === 0)
      return claimed.map((row) => ({
        ...row,
        event: toEvent(row),
        endpoint: { ...row, id: row.endpointId },
      }));
  }
}

function toClaimValues({ endpoints, slow, busy, ...limits }: ClaimLimits): unknown[] {
  const { events, lateEvents, slowEvents, perEndpoint, perShare, leaseMs } = limits;
  const places = [[...endpoints], [...slow], [...busy.keys()], [...busy.values()]];
  return [...places, events, lateEvents, slowEvents, perEndpoint, perShare, leaseMs / 1_000];
}

async function findDue(pool: pg.Pool, size: number, newWithinMs?: number): Promise<string[]> {
  const rows = await (newWithinMs === undefined
    ? queryRows<{ id: string }>(pool, FIND_DUE, size)
    : queryRows<{ id: string }>(pool, FIND_NEW, size, newWithinMs / 1_000));
  return rows.map(({ id }) => id);
}
