import type { Scope } from '@phds/catalog/scopes';
import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { ClaimedEvent, ClaimLimits, Outcome, WebhookQueue } from '../app/webhook-ports.ts';
import type { WebhookAttempt } from '../domain/webhook-event.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { GRANT_FROM, GRANT_STATUS } from './grant-rows.ts';
import { EVENT_COLUMNS, type EventRow, toEvent } from './webhook-deliveries.ts';

/** The longest pause of a failing endpoint between two attempts, whatever the number of its events. */
const LONGEST_PAUSE_SECONDS = 60;
/** After so long without an accepted attempt, the first accepted one makes the waiting events due. */
const OUTAGE_SECONDS = 60;
/** Events made due at once; the others keep their times. */
const RESUMED_AT_ONCE = 1_000;

/** Events in `webhook_event`. A claim is a lease: when it ends without an outcome, any sender takes the event over. */
export function createPrismaWebhookQueue(prisma: PrismaClient): WebhookQueue {
  return translatingErrors({
    claim: (limits) => prisma.$transaction((tx) => claim(tx, limits)),
    async settle(claimed, attempt, outcome) {
      await settle(prisma, claimed, attempt, outcome);
      if (outcome.state === 'delivered' && claimed.endpoint.isFailing)
        await endOutage(prisma, claimed.endpoint.id);
    },
    async release({ event, lease }) {
      await prisma.$executeRaw`
        UPDATE webhook_event SET lease = NULL, next_attempt_at = statement_timestamp()
        WHERE id = ${event.id} AND lease = ${lease}::uuid`;
    },
    async measure() {
      const [row] = await prisma.$queryRaw<{ pending: number; oldestDueMs: number | null }[]>`
        SELECT count(*)::int AS pending,
          (extract(epoch FROM statement_timestamp() - min(e.next_attempt_at)
            FILTER (WHERE e.next_attempt_at <= statement_timestamp())) * 1000)::double precision AS "oldestDueMs"
        FROM webhook_event e JOIN webhook_endpoint w ON w.id = e.endpoint_id
        WHERE e.state = 'pending' AND w.disabled_reason IS NULL`;
      return row ?? { pending: 0, oldestDueMs: null };
    },
  });
}

interface ClaimedRow extends EventRow {
  readonly endpointId: string;
  readonly url: string;
  readonly secretVersion: number;
  readonly isOverlapping: boolean;
  readonly isFailing: boolean;
  readonly lease: string;
  readonly attempts: number;
  readonly ageMs: number;
  readonly liveScopes: Scope[] | null;
}

/**
 * Takes from the endpoints in random order, so that none with many events keeps the others waiting. An event is passed over while an
 * earlier one of its grant is pending.
 */
async function claim(tx: Prisma.TransactionClient, limits: ClaimLimits): Promise<ClaimedEvent[]> {
  const { events, perEndpoint, busy, leaseMs } = limits;
  const claimed = await tx.$queryRaw<{ id: string }[]>`
    WITH due AS (
      SELECT d.id FROM webhook_endpoint w
      LEFT JOIN unnest(${[...busy.keys()]}::text[], ${[...busy.values()]}::int[]) AS busy(endpoint_id, count)
        ON busy.endpoint_id = w.id
      CROSS JOIN LATERAL (
        SELECT e.id FROM webhook_event e
        WHERE e.endpoint_id = w.id AND e.state = 'pending' AND e.next_attempt_at <= statement_timestamp()
          AND NOT EXISTS (
            SELECT FROM webhook_event earlier
            WHERE earlier.grant_id = e.grant_id AND earlier.state = 'pending' AND earlier.number < e.number
              AND earlier.endpoint_id = e.endpoint_id)
        ORDER BY e.next_attempt_at
        LIMIT greatest(0, CASE WHEN w.failures > 0 THEN 1 ELSE ${perEndpoint}::int END - coalesce(busy.count, 0))
        FOR UPDATE OF e SKIP LOCKED
      ) d
      WHERE w.disabled_reason IS NULL AND (w.retry_at IS NULL OR w.retry_at <= statement_timestamp())
      ORDER BY random() LIMIT ${events}
    )
    UPDATE webhook_event e SET lease = gen_random_uuid(), attempts = e.attempts + 1,
      next_attempt_at = statement_timestamp() + make_interval(secs => ${leaseMs / 1_000}::double precision)
    FROM due WHERE e.id = due.id
    RETURNING e.id`;
  if (claimed.length === 0) return [];
  const rows = await tx.$queryRaw<ClaimedRow[]>`
    SELECT ${EVENT_COLUMNS}, v.endpoint_id AS "endpointId", w.url, w.secret_version AS "secretVersion",
      coalesce(w.previous_secret_until > statement_timestamp(), false) AS "isOverlapping", w.failures > 0 AS "isFailing",
      v.lease, v.attempts, (extract(epoch FROM statement_timestamp() - v.started_at) * 1000)::double precision AS "ageMs",
      CASE WHEN v.type = 'data.updated' THEN (
        SELECT g.scopes FROM ${Prisma.raw(GRANT_FROM)} WHERE g.id = v.grant_id AND ${Prisma.raw(GRANT_STATUS)} = 'active'
      ) END AS "liveScopes"
    FROM webhook_event v JOIN webhook_endpoint w ON w.id = v.endpoint_id
    WHERE v.id = ANY(${claimed.map(({ id }) => id)}::text[])`;
  return rows.map((row) => {
    const { endpointId, url, secretVersion, isOverlapping, isFailing, lease, attempts, ageMs, liveScopes } =
      row;
    const endpoint = { id: endpointId, url, secretVersion, isOverlapping, isFailing };
    return { event: toEvent(row), endpoint, lease, attempts, ageMs, liveScopes };
  });
}

/** One statement. An attempt that failed for lack of an answer pauses the endpoint, for longer each time. */
async function settle(
  prisma: PrismaClient,
  { event, endpoint, lease }: ClaimedEvent,
  { at, status, failure, ms }: WebhookAttempt,
  outcome: Outcome,
): Promise<void> {
  const waitSeconds = outcome.state === 'pending' ? outcome.waitMs / 1_000 : null;
  const isFailure = failure !== null && failure !== 'grant_ended';
  const disabledReason = outcome.state === 'failed' && outcome.isGone ? 'gone' : null;
  await prisma.$executeRaw`
    WITH settled AS (
      UPDATE webhook_event SET state = ${outcome.state}, lease = NULL,
        next_attempt_at = statement_timestamp() + make_interval(secs => ${waitSeconds}::double precision)
      WHERE id = ${event.id} AND lease = ${lease}::uuid
      RETURNING id
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

/** After an outage, what waited for its next attempt is due at once. */
async function endOutage(prisma: PrismaClient, endpointId: string): Promise<void> {
  await prisma.$executeRaw`
    WITH failing AS (
      SELECT id, failing_since FROM webhook_endpoint WHERE id = ${endpointId} AND failures > 0 FOR UPDATE
    ), ended AS (
      UPDATE webhook_endpoint w SET failures = 0, failing_since = NULL, retry_at = NULL FROM failing WHERE w.id = failing.id
    )
    UPDATE webhook_event SET next_attempt_at = statement_timestamp() WHERE id = ANY(ARRAY(
      SELECT e.id FROM webhook_event e JOIN failing ON failing.id = e.endpoint_id
      WHERE failing.failing_since < statement_timestamp() - make_interval(secs => ${OUTAGE_SECONDS}::int)
        AND e.state = 'pending' AND e.lease IS NULL AND e.next_attempt_at > statement_timestamp()
      ORDER BY e.next_attempt_at LIMIT ${RESUMED_AT_ONCE} FOR UPDATE OF e SKIP LOCKED))`;
}
