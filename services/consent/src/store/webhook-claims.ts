import type { Scope } from '@phds/catalog/scopes';
import type { ClaimedEvent, ClaimLimits } from '../app/webhook-ports.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { EVENT_COLUMNS, type EventRow, LIVE_SCOPES, toEvent } from './webhook-deliveries.ts';

/** Due events of each kind that a claim reads of an endpoint. */
const READ_AT_ONCE = 16;
/** The longest time until an event is looked at again that waits for an earlier one of its grant. */
const LONGEST_WAIT_SECONDS = 300;

interface TakenRow {
  /** Null for an event that was put off. */
  readonly id: string | null;
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

/** See WebhookQueue.claim. What is read and cannot be claimed is put off, so that the next claim finds others. */
export async function claim(prisma: PrismaClient, limits: ClaimLimits): Promise<ClaimedEvent[]> {
  for (;;) {
    const claimed = await prisma.$transaction(async (tx) => {
      const taken = await take(tx, limits);
      const ids = taken.flatMap(({ id }) => (id === null ? [] : [id]));
      return ids.length === 0 && taken.length > 0 ? null : readClaimed(tx, ids);
    });
    if (claimed !== null) return claimed;
  }
}

/**
 * Chooses endpoints with due events at random, so that none with many events keeps the others waiting, then of each the due events, first
 * those that are not `data.updated`. Instead of an event that waits for an earlier one of its grant, that one is claimed, if it is due, or
 * if it is a `data.updated` that need not wait: one not sent yet, or one whose grant has ended, which is not sent any more.
 */
function take(tx: Prisma.TransactionClient, { events, perEndpoint, busy, leaseMs }: ClaimLimits) {
  return tx.$queryRaw<TakenRow[]>`
    WITH endpoint AS MATERIALIZED (
      SELECT w.id, c.room FROM webhook_endpoint w
      LEFT JOIN unnest(${[...busy.keys()]}::text[], ${[...busy.values()]}::int[]) AS busy(endpoint_id, count)
        ON busy.endpoint_id = w.id
      CROSS JOIN LATERAL (
        SELECT CASE WHEN w.failures > 0 THEN 1 ELSE ${perEndpoint}::int END - coalesce(busy.count, 0) AS room
      ) c
      WHERE w.disabled_reason IS NULL AND (w.retry_at IS NULL OR w.retry_at <= statement_timestamp()) AND c.room > 0
        AND (EXISTS (${due(Prisma.sql`<>`)}) OR EXISTS (${due(Prisma.sql`=`)}))
      ORDER BY random() LIMIT ${events}
    ), found AS MATERIALIZED (
      SELECT e.*, coalesce(head.id, e.id) AS head_id, head.next_attempt_at AS head_at,
        coalesce(head.type = 'data.updated' AND head.lease IS NULL
          AND (head.attempts = 0 OR e.type IN ('grant.revoked', 'grant.expired')), false) AS is_urgent_head,
        least(w.room, ceil(${events}::int / (SELECT count(*) FROM endpoint)::double precision)) AS room
      FROM endpoint w
      CROSS JOIN LATERAL (
        (${due(Prisma.sql`<>`)} ORDER BY e.next_attempt_at LIMIT ${READ_AT_ONCE})
        UNION ALL (${due(Prisma.sql`=`)} ORDER BY e.next_attempt_at LIMIT ${READ_AT_ONCE})
      ) e
      LEFT JOIN LATERAL (
        SELECT f.id, f.type, f.next_attempt_at, f.lease, f.attempts FROM webhook_event f
        WHERE f.grant_id = e.grant_id AND f.state = 'pending' AND f.endpoint_id = e.endpoint_id AND f.number < e.number
        ORDER BY f.number LIMIT 1
      ) head ON true
    ), ranked AS (
      SELECT head_id, is_urgent_head, is_late, room,
        row_number() OVER (PARTITION BY endpoint_id ORDER BY is_late, next_attempt_at) AS rank
      FROM (
        SELECT DISTINCT ON (head_id) head_id, endpoint_id, is_urgent_head, room, next_attempt_at,
          type = 'data.updated' AS is_late
        FROM found WHERE head_id = id OR is_urgent_head OR head_at <= statement_timestamp()
        ORDER BY head_id, type = 'data.updated', is_urgent_head DESC
      ) each
    ), locked AS (
      SELECT e.id FROM ranked JOIN webhook_event e ON e.id = ranked.head_id
      WHERE ranked.rank <= ranked.room AND e.state = 'pending'
        AND (e.next_attempt_at <= statement_timestamp() OR (ranked.is_urgent_head AND e.lease IS NULL))
      ORDER BY ranked.is_late, random() LIMIT ${events}
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

/** The due events `e` of endpoint `w` whose type is, or is not, `data.updated`. Each has an index of its own. */
function due(is: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`SELECT e.id, e.endpoint_id, e.grant_id, e.type, e.number, e.next_attempt_at FROM webhook_event e
    WHERE e.endpoint_id = w.id AND e.state = 'pending' AND e.type ${is} 'data.updated'
      AND e.next_attempt_at <= statement_timestamp()`;
}

async function readClaimed(tx: Prisma.TransactionClient, ids: readonly string[]): Promise<ClaimedEvent[]> {
  if (ids.length === 0) return [];
  const rows = await tx.$queryRaw<ClaimedRow[]>`
    SELECT ${EVENT_COLUMNS}, v.endpoint_id AS "endpointId", w.url, w.secret_version AS "secretVersion",
      coalesce(w.previous_secret_until > statement_timestamp(), false) AS "isOverlapping", w.failures > 0 AS "isFailing",
      v.lease, v.attempts, (extract(epoch FROM statement_timestamp() - v.started_at) * 1000)::double precision AS "ageMs",
      ${LIVE_SCOPES} AS "liveScopes"
    FROM webhook_event v JOIN webhook_endpoint w ON w.id = v.endpoint_id
    WHERE v.id = ANY(${ids}::text[])`;
  return rows.map((row) => {
    const { endpointId, url, secretVersion, isOverlapping, isFailing, lease, attempts, ageMs, liveScopes } =
      row;
    const endpoint = { id: endpointId, url, secretVersion, isOverlapping, isFailing };
    return { event: toEvent(row), endpoint, lease, attempts, ageMs, liveScopes };
  });
}
