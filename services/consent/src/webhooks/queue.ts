import { execute, readStatement, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
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
     * those with events of the last milliseconds, at a cost that does not grow with the number of endpoints.
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
      await execute(pool)`
        UPDATE webhook_event SET lease = NULL, attempts = greatest(1, attempts - 1), next_attempt_at = statement_timestamp()
        WHERE id = ${event.id} AND lease = ${lease}::uuid`;
    },
  };
}

/** Reads all pending events, so not on connections whose planner settings are those of key look-ups. */
export async function measurePending(pool: pg.Pool): Promise<PendingEvents> {
  const [row] = await select<{ pending: number; oldestDueMs: number | null }>(pool)`
    SELECT count(*)::int AS pending,
      (extract(epoch FROM statement_timestamp() - min(CASE WHEN w.client_id IS NULL THEN e.started_at ELSE e.next_attempt_at END)
        FILTER (WHERE w.client_id IS NULL OR (e.next_attempt_at <= statement_timestamp() AND w.failures = 0)))
        * 1000)::double precision AS "oldestDueMs"
    FROM webhook_event e JOIN webhook_endpoint w ON w.id = e.endpoint_id
    WHERE e.state = 'pending' AND w.disabled_reason IS NULL AND w.paused_at IS NULL`;
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
  await pool.query({
    ...RECORD_OUTCOME,
    values: [...settled, ...attempt, endpoint.id, isFailure, disabledReason],
  });
}

/**
 * After an outage, events that waited for their next attempt are due at once: `data.updated` last, and not before its own time. Ends
 * early when the endpoint fails again.
 */
async function endOutage(pool: pg.Pool, endpointId: string): Promise<void> {
  const [ended] = await select<{ wasLong: boolean }>(pool)`
    WITH failing AS (
      SELECT id, failing_since FROM webhook_endpoint WHERE id = ${endpointId} AND failures > 0 FOR UPDATE
    )
    UPDATE webhook_endpoint w SET failures = 0, failing_since = NULL, retry_at = NULL FROM failing WHERE w.id = failing.id
    RETURNING failing.failing_since < statement_timestamp() - make_interval(secs => ${OUTAGE_SECONDS}::int) AS "wasLong"`;
  if (ended?.wasLong !== true) return;
  for (const is of [sql`<>`, sql`=`]) {
    let resumed = RESUMED_AT_ONCE;
    for (let run = 0; run < MOST_RESUMES && resumed === RESUMED_AT_ONCE; run += 1) {
      resumed = await resume(pool, endpointId, is);
    }
  }
}

function resume(pool: pg.Pool, endpointId: string, is: Sql): Promise<number> {
  return execute(pool)`
    UPDATE webhook_event SET next_attempt_at = statement_timestamp() WHERE id = ANY(ARRAY(
      SELECT e.id FROM webhook_event e JOIN webhook_endpoint w ON w.id = e.endpoint_id AND w.failures = 0
      WHERE e.endpoint_id = ${endpointId} AND e.state = 'pending' AND e.type ${is} 'data.updated' AND e.lease IS NULL
        AND e.next_attempt_at > statement_timestamp() AND e.started_at <= statement_timestamp()
      ORDER BY e.next_attempt_at LIMIT ${RESUMED_AT_ONCE} FOR UPDATE OF e SKIP LOCKED))`;
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
    const { rows } = await pool.query<ClaimedRow | { readonly url: null }>({
      ...CLAIM,
      values: toClaimValues(limits),
    });
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
  const rows =
    newWithinMs === undefined
      ? await select<{ id: string }>(pool)`
          SELECT w.id FROM webhook_endpoint w
          WHERE w.disabled_reason IS NULL AND w.paused_at IS NULL AND (w.retry_at IS NULL OR w.retry_at <= statement_timestamp())
            AND (EXISTS (${due(sql`<>`)}) OR EXISTS (${due(sql`=`)}))
          ORDER BY EXISTS (${due(sql`<>`)}) DESC, random() LIMIT ${size}`
      : await select<{ id: string }>(pool)`
          SELECT DISTINCT e.endpoint_id AS id FROM webhook_event e
          WHERE e.created_at > statement_timestamp() - make_interval(secs => ${newWithinMs / 1_000}::double precision)
            AND e.state = 'pending' AND e.next_attempt_at <= statement_timestamp() LIMIT ${size}`;
  return rows.map(({ id }) => id);
}

/** The due events `e` of endpoint `w` whose type is, or is not, `data.updated`. Each has an index of its own. */
function due(is: Sql): Sql {
  return sql`SELECT FROM webhook_event e
    WHERE e.endpoint_id = w.id AND e.state = 'pending' AND e.type ${is} 'data.updated'
      AND e.next_attempt_at <= statement_timestamp()`;
}
