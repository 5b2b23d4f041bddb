import { scopeOfCategory } from '@phds/catalog/endpoints';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { DataChange, DataChangeStore, DataEventTimes } from '../app/data-changes.ts';
import { wanting } from './webhook-event-rows.ts';

/** Events of changed readings, in table `webhook_event`. */
export function createPgDataChanges(pool: pg.Pool): DataChangeStore {
  return translatingErrors({ add: (changes, times) => add(pool, changes, times) });
}

/**
 * One statement, which finds the people's grants by index. The lock keeps a grant from being erased until the commit (like addGrantNotices).
 * Postgres checks the unique index of unsent events again after it has waited for a sender, so a change is never added to an event that
 * is being sent.
 */
async function add(pool: pg.Pool, changes: readonly DataChange[], times: DataEventTimes): Promise<void> {
  if (changes.length === 0) return;
  await execute(pool)`
    INSERT INTO webhook_event AS e (endpoint_id, grant_id, sub_hash, type, content, next_attempt_at, started_at)
    SELECT w.id, g.id, sub_hash(g.user_ref, g.client_id), 'data.updated', c.content, due.at, due.at
    FROM consent_grant g
    JOIN webhook_endpoint w ON w.client_id = g.client_id AND ${wanting('data.updated')}
    JOIN app a ON a.client_id = g.client_id AND a.epoch = g.app_epoch AND a.status = 'active'
    CROSS JOIN LATERAL (
      SELECT jsonb_build_object('categories', jsonb_agg(DISTINCT n.category),
        'lastDataAt', to_char(max(n.at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS content
      FROM unnest(${changes.map(({ userId }) => userId)}::text[], ${changes.map(({ category }) => category)}::text[],
        ${changes.map(({ category }) => scopeOfCategory(category))}::text[], ${changes.map(({ at }) => at.toISOString())}::timestamptz[],
        ${changes.map(({ latestReadingAt }) => latestReadingAt.toISOString())}::timestamptz[])
        AS n(user_id, category, scope, at, latest_reading_at)
      WHERE n.user_id = g.user_id AND n.scope = ANY(g.scopes)
        AND (g.data_from IS NULL OR n.latest_reading_at >= g.data_from - interval '1 day')
      HAVING count(*) > 0
    ) c
    CROSS JOIN LATERAL (
      SELECT greatest(statement_timestamp() + make_interval(secs => ${times.delayMs / 1_000}::double precision), (
        SELECT l.started_at + make_interval(secs => ${times.spacingMs / 1_000}::double precision) FROM webhook_event l
        WHERE l.grant_id = g.id AND l.type = 'data.updated' ORDER BY l.number DESC LIMIT 1)) AS at
    ) due
    WHERE g.user_id = ANY(${[...new Set(changes.map(({ userId }) => userId))]}::text[])
      AND g.closed_at IS NULL AND g.revoked_at IS NULL AND g.expires_at > statement_timestamp()
    ORDER BY g.id FOR KEY SHARE OF g
    ON CONFLICT (grant_id) WHERE type = 'data.updated' AND state = 'pending' AND attempts = 0
    DO UPDATE SET endpoint_id = excluded.endpoint_id, content = jsonb_build_object(
      'categories', (SELECT jsonb_agg(DISTINCT each) FROM jsonb_array_elements(
        (e.content->'categories') || (excluded.content->'categories')) each),
      'lastDataAt', greatest(e.content->>'lastDataAt', excluded.content->>'lastDataAt'))`;
}
