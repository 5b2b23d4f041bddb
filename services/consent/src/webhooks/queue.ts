import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import {
  EVENT_COLUMNS,
  type EventRow,
  LIVE_SCOPES,
  type LiveScopes,
  toEvent,
  type WebhookAttempt,
  type WebhookEvent,
} from './event.ts';

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

/** The longest pause of a failing endpoint between two attempts, whatever the number of its events. */
const LONGEST_PAUSE_SECONDS = 60;
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
    /** Those of the endpoints that have due events. */
    findDueAmong: (endpoints: readonly string[]) => findDueAmong(pool, endpoints),
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
    async measure(): Promise<PendingEvents> {
      const [row] = await select<{ pending: number; oldestDueMs: number | null }>(pool)`
        SELECT count(*)::int AS pending,
          (extract(epoch FROM statement_timestamp() - min(CASE WHEN w.client_id IS NULL THEN e.started_at ELSE e.next_attempt_at END)
            FILTER (WHERE w.client_id IS NULL OR (e.next_attempt_at <= statement_timestamp() AND w.failures = 0)))
            * 1000)::double precision AS "oldestDueMs"
        FROM webhook_event e JOIN webhook_endpoint w ON w.id = e.endpoint_id
        WHERE e.state = 'pending' AND w.disabled_reason IS NULL AND w.paused_at IS NULL`;
      return row ?? { pending: 0, oldestDueMs: null };
    },
  };
}

/**
 * One statement. An attempt that failed for lack of an answer pauses the endpoint, for longer each time. After the last attempt the next
 * event of the grant is due, unless its own time is still to come. The id of an erased person is kept only until the deployment has the end
 * of their connection.
 */
async function recordOutcome(
  pool: pg.Pool,
  { event, endpoint, lease }: ClaimedEvent,
  { at, status, failure, ms }: WebhookAttempt,
  outcome: Outcome,
): Promise<void> {
  const waitSeconds = outcome.state === 'pending' ? outcome.waitMs / 1_000 : null;
  const isFailure = failure !== null && failure !== 'grant_ended';
  const disabledReason = outcome.state === 'failed' && outcome.isGone ? 'gone' : null;
  await execute(pool)`
    WITH settled AS (
      UPDATE webhook_event e SET state = ${outcome.state}, lease = NULL,
        content = CASE WHEN ${outcome.state === 'delivered'}::boolean
          AND NOT EXISTS (SELECT FROM consent_grant g WHERE g.id = e.grant_id) THEN content - 'userId' ELSE content END,
        next_attempt_at = statement_timestamp() + make_interval(secs => ${waitSeconds}::double precision)
      WHERE id = ${event.id} AND lease = ${lease}::uuid
      RETURNING id, endpoint_id, grant_id, number, state
    ), next AS (
      UPDATE webhook_event SET next_attempt_at = statement_timestamp()
      WHERE lease IS NULL AND started_at <= statement_timestamp() AND id = (
        SELECT f.id FROM settled s JOIN webhook_event f ON f.grant_id = s.grant_id AND f.endpoint_id = s.endpoint_id
        WHERE s.state <> 'pending' AND f.state = 'pending' AND f.number > s.number ORDER BY f.number LIMIT 1)
    ), logged AS (
      INSERT INTO webhook_attempt (event_id, at, status, failure, ms)
      SELECT id, ${at}, ${status}::int, ${failure}::text, ${ms}::int FROM settled
    )
    UPDATE webhook_endpoint w SET failures = least(w.failures + 1, 1000000),
      failing_since = coalesce(w.failing_since, statement_timestamp()),
      retry_at = statement_timestamp()
        + make_interval(secs => least(${LONGEST_PAUSE_SECONDS}::int, power(2, least(w.failures, 10)))),
      disabled_reason = coalesce(${disabledReason}::text, w.disabled_reason)
    FROM settled WHERE ${isFailure}::boolean AND w.id = ${endpoint.id}`;
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

/** Due events of each kind that a claim reads of an endpoint. */
const READ_AT_ONCE = 16;
/** The longest time until an event is checked again that waits for an earlier one of its grant. */
const LONGEST_WAIT_SECONDS = 300;

interface TakenRow {
  /** Null for an event that was put off. */
  readonly id: string | null;
}

interface ClaimedRow
  extends EventRow,
    Omit<ClaimedEvent, 'event' | 'endpoint'>,
    Omit<ClaimedEvent['endpoint'], 'id'> {
  readonly endpointId: string;
}

/** Events that are read and cannot be claimed are postponed, so that the next claim finds others. */
async function claim(pool: pg.Pool, limits: ClaimLimits): Promise<ClaimedEvent[]> {
  for (;;) {
    const claimed = await transact(pool, async (tx) => {
      const taken = await take(tx, limits);
      const ids = taken.flatMap(({ id }) => (id === null ? [] : [id]));
      return ids.length === 0 && taken.length > 0 ? null : readClaimed(tx, ids);
    });
    if (claimed !== null) return claimed;
  }
}

async function findDue(pool: pg.Pool, size: number, newWithinMs?: number): Promise<string[]> {
  const rows =
    newWithinMs === undefined
      ? await select<{ id: string }>(pool)`
          SELECT w.id FROM webhook_endpoint w WHERE ${hasDue()}
          ORDER BY EXISTS (${due(sql`<>`)}) DESC, random() LIMIT ${size}`
      : await select<{ id: string }>(pool)`
          SELECT DISTINCT e.endpoint_id AS id FROM webhook_event e
          WHERE e.created_at > statement_timestamp() - make_interval(secs => ${newWithinMs / 1_000}::double precision)
            AND e.state = 'pending' AND e.next_attempt_at <= statement_timestamp() LIMIT ${size}`;
  return rows.map(({ id }) => id);
}

async function findDueAmong(pool: pg.Pool, endpoints: readonly string[]): Promise<string[]> {
  const rows = await select<{ id: string }>(pool)`
    SELECT w.id FROM webhook_endpoint w WHERE w.id = ANY(${endpoints}::text[]) AND ${hasDue()}`;
  return rows.map(({ id }) => id);
}

const CAN_RECEIVE = sql`w.disabled_reason IS NULL AND w.paused_at IS NULL AND (w.retry_at IS NULL OR w.retry_at <= statement_timestamp())`;
/** Each endpoint of the deployment has the share of an owner. */
const OWNER = sql`coalesce(a.owner_id, w.id)`;
const HOST = sql`split_part(split_part(w.url, '/', 3), ':', 1)`;

/**
 * Chooses endpoints with due events, first those with others than `data.updated`, else at random, so that none with many events keeps
 * the others waiting, then of each the due events in the same order. Instead of an event that waits for an earlier one of its grant, that
 * one is claimed, if it is due, or if it is a `data.updated` that need not wait: one not sent yet, or one whose grant has ended, which is
 * not sent any more.
 */
function take(
  tx: pg.ClientBase,
  { endpoints, events, lateEvents, slow, slowEvents, perEndpoint, perShare, busy, leaseMs }: ClaimLimits,
) {
  return select<TakenRow>(tx)`
    WITH busy AS (
      SELECT b.id, b.count, ${OWNER} AS owner_id, ${HOST} AS host, b.id = ANY(${[...slow]}::text[]) AS is_slow
      FROM unnest(${[...busy.keys()]}::text[], ${[...busy.values()]}::int[]) AS b(id, count)
      JOIN webhook_endpoint w ON w.id = b.id LEFT JOIN app a ON a.client_id = w.client_id
    ), endpoint AS MATERIALIZED (
      SELECT w.id, h.owner_id, h.host, h.is_slow, c.room, c.of_owner, c.of_host FROM webhook_endpoint w
      LEFT JOIN app a ON a.client_id = w.client_id
      CROSS JOIN LATERAL (SELECT ${OWNER} AS owner_id, ${HOST} AS host, w.id = ANY(${[...slow]}::text[]) AS is_slow) h
      CROSS JOIN LATERAL (
        SELECT CASE WHEN w.failures > 0 THEN 1 ELSE ${perEndpoint}::int END
            - coalesce(sum(busy.count) FILTER (WHERE busy.id = w.id), 0) AS room,
          ${leftOf(perShare, sql`busy.owner_id = h.owner_id`)} AS of_owner,
          ${leftOf(perShare, sql`busy.host = h.host`)} AS of_host
        FROM busy
      ) c
      CROSS JOIN LATERAL (SELECT EXISTS (${due(sql`<>`)}) AS is_urgent) u
      WHERE w.id = ANY(${[...endpoints]}::text[]) AND ${CAN_RECEIVE} AND least(c.room, c.of_owner, c.of_host) > 0
        AND CASE WHEN h.is_slow THEN ${slowEvents}::int ELSE ${events}::int END > 0
        AND (u.is_urgent OR ((h.is_slow OR ${lateEvents}::int > 0) AND EXISTS (${due(sql`=`)})))
      ORDER BY u.is_urgent DESC, random() LIMIT ${events + slowEvents}
    ), found AS MATERIALIZED (
      SELECT e.*, coalesce(head.id, e.id) AS head_id, head.next_attempt_at AS head_at,
        coalesce(head.type = 'data.updated' AND head.lease IS NULL
          AND (head.attempts = 0 OR e.type IN ('grant.revoked', 'grant.expired')), false) AS is_urgent_head,
        least(w.room, ceil(${events + slowEvents}::int / (SELECT count(*) FROM endpoint)::double precision)) AS room,
        w.owner_id, w.host, w.is_slow, w.of_owner, w.of_host
      FROM endpoint w
      CROSS JOIN LATERAL (
        (${due(sql`<>`)} ORDER BY e.next_attempt_at LIMIT ${READ_AT_ONCE})
        UNION ALL (${due(sql`=`)} ORDER BY e.next_attempt_at LIMIT ${READ_AT_ONCE})
      ) e
      LEFT JOIN LATERAL (
        SELECT f.id, f.type, f.next_attempt_at, f.lease, f.attempts FROM webhook_event f
        WHERE f.grant_id = e.grant_id AND f.state = 'pending' AND f.endpoint_id = e.endpoint_id AND f.number < e.number
        ORDER BY f.number LIMIT 1
      ) head ON true
    ), ranked AS (
      SELECT *, row_number() OVER (PARTITION BY endpoint_id ORDER BY is_late, next_attempt_at) AS rank, random() AS lot
      FROM (
        SELECT DISTINCT ON (head_id) *, type = 'data.updated' AS is_late
        FROM found WHERE head_id = id OR is_urgent_head OR head_at <= statement_timestamp()
        ORDER BY head_id, type = 'data.updated', is_urgent_head DESC
      ) each
    ), shared AS (
      SELECT *, row_number() OVER (PARTITION BY owner_id, is_slow ORDER BY is_late, lot) AS owner_rank,
        row_number() OVER (PARTITION BY host, is_slow ORDER BY is_late, lot) AS host_rank
      FROM ranked WHERE rank <= room
    ), placed AS (
      SELECT *, row_number() OVER (PARTITION BY is_slow ORDER BY is_late, lot) AS place,
        row_number() OVER (PARTITION BY is_slow, is_late ORDER BY lot) AS place_of_kind
      FROM shared WHERE owner_rank <= of_owner AND host_rank <= of_host
    ), locked AS (
      SELECT e.id FROM placed p JOIN webhook_event e ON e.id = p.head_id
      WHERE p.place <= CASE WHEN p.is_slow THEN ${slowEvents}::int ELSE ${events}::int END
        AND (p.is_slow OR NOT p.is_late OR p.place_of_kind <= ${lateEvents}::int) AND e.state = 'pending'
        AND (e.next_attempt_at <= statement_timestamp() OR (p.is_urgent_head AND e.lease IS NULL))
      FOR UPDATE OF e SKIP LOCKED
    ), claimed AS (
      UPDATE webhook_event e SET lease = gen_random_uuid(), attempts = e.attempts + 1,
        next_attempt_at = statement_timestamp() + make_interval(secs => ${leaseMs / 1_000}::double precision)
      FROM locked WHERE e.id = locked.id
      RETURNING e.id
    ), waiting AS (
      SELECT e.id, found.head_at FROM found JOIN webhook_event e ON e.id = found.id
      WHERE found.head_id <> found.id AND e.state = 'pending' AND e.lease IS NULL
        AND e.next_attempt_at <= statement_timestamp()
      FOR UPDATE OF e SKIP LOCKED
    ), put_off AS (
      UPDATE webhook_event e SET next_attempt_at = statement_timestamp() + least(make_interval(secs => ${LONGEST_WAIT_SECONDS}::int),
        greatest(waiting.head_at - statement_timestamp(), interval '1 second'))
      FROM waiting WHERE e.id = waiting.id
      RETURNING e.id
    )
    SELECT id FROM claimed UNION ALL SELECT NULL FROM put_off`;
}

/**
 * What is left of a share for an endpoint of this speed. Slow receivers do not use up the share of fast ones, but may have no more than
 * two shares: a delivery to one that was fast until now becomes slow, and leaves its place to the next.
 */
function leftOf(perShare: number, isOfShare: Sql): Sql {
  return sql`least(
    ${perShare}::int - coalesce(sum(busy.count) FILTER (WHERE ${isOfShare} AND busy.is_slow = h.is_slow), 0),
    2 * ${perShare}::int - coalesce(sum(busy.count) FILTER (WHERE ${isOfShare}), 0))`;
}

/** The due events `e` of endpoint `w` whose type is, or is not, `data.updated`. Each has an index of its own. */
function due(is: Sql): Sql {
  return sql`SELECT e.id, e.endpoint_id, e.grant_id, e.type, e.number, e.next_attempt_at FROM webhook_event e
    WHERE e.endpoint_id = w.id AND e.state = 'pending' AND e.type ${is} 'data.updated'
      AND e.next_attempt_at <= statement_timestamp()`;
}

function hasDue(): Sql {
  return sql`${CAN_RECEIVE} AND (EXISTS (${due(sql`<>`)}) OR EXISTS (${due(sql`=`)}))`;
}

async function readClaimed(tx: pg.ClientBase, ids: readonly string[]): Promise<ClaimedEvent[]> {
  if (ids.length === 0) return [];
  const rows = await select<ClaimedRow>(tx)`
    SELECT ${EVENT_COLUMNS}, v.endpoint_id AS "endpointId", w.url, w.secret_version AS "secretVersion",
      coalesce(w.previous_secret_until > statement_timestamp(), false) AS "isOverlapping", w.failures > 0 AS "isFailing",
      v.lease, v.attempts, (extract(epoch FROM statement_timestamp() - v.started_at) * 1000)::double precision AS "ageMs",
      ${LIVE_SCOPES} AS "liveScopes"
    FROM webhook_event v JOIN webhook_endpoint w ON w.id = v.endpoint_id
    WHERE v.id = ANY(${ids}::text[])`;
  return rows.map((row) => ({ ...row, event: toEvent(row), endpoint: { ...row, id: row.endpointId } }));
}
