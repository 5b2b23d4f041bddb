import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import type { ClaimedEvent, Outcome, WebhookQueue } from '../app/webhook-ports.ts';
import type { WebhookAttempt } from '../domain/webhook-event.ts';
import { claim, findDue, findDueAmong } from './webhook-claims.ts';

/** The longest pause of a failing endpoint between two attempts, whatever the number of its events. */
const LONGEST_PAUSE_SECONDS = 60;
/** After so long without an accepted attempt, the first accepted one makes the waiting events due. */
const OUTAGE_SECONDS = 60;
/** Events made due by one statement, and the number of such statements for each kind of event. */
const RESUMED_AT_ONCE = 1_000;
const MOST_RESUMES = 200;

/** Events in `webhook_event`. A claim is a lease: when it ends without an outcome, any sender takes the event over. */
export function createPgWebhookQueue(pool: pg.Pool): WebhookQueue {
  return translatingErrors({
    findDue: (size, newWithinMs) => findDue(pool, size, newWithinMs),
    findDueAmong: (endpoints) => findDueAmong(pool, endpoints),
    claim: (limits) => claim(pool, limits),
    async settle(claimed, attempt, outcome) {
      await settle(pool, claimed, attempt, outcome);
      if (outcome.state === 'delivered' && claimed.endpoint.isFailing)
        await endOutage(pool, claimed.endpoint.id);
    },
    async release({ event, lease }) {
      await execute(pool)`
        UPDATE webhook_event SET lease = NULL, attempts = greatest(1, attempts - 1), next_attempt_at = statement_timestamp()
        WHERE id = ${event.id} AND lease = ${lease}::uuid`;
    },
    async measure() {
      const [row] = await select<{ pending: number; oldestDueMs: number | null }>(pool)`
        SELECT count(*)::int AS pending,
          (extract(epoch FROM statement_timestamp() - min(e.next_attempt_at)
            FILTER (WHERE e.next_attempt_at <= statement_timestamp() AND w.failures = 0)) * 1000)::double precision AS "oldestDueMs"
        FROM webhook_event e JOIN webhook_endpoint w ON w.id = e.endpoint_id
        WHERE e.state = 'pending' AND w.disabled_reason IS NULL`;
      return row ?? { pending: 0, oldestDueMs: null };
    },
  });
}

/**
 * One statement. An attempt that failed for lack of an answer pauses the endpoint, for longer each time. After the last attempt the next
 * event of the grant is due, unless its own time is still to come.
 */
async function settle(
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
      UPDATE webhook_event SET state = ${outcome.state}, lease = NULL,
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
