import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { WebhookCauseStore } from '../app/webhook-ports.ts';
import { insertEvents } from './webhook-event-rows.ts';

/**
 * Seconds after its end from which a grant is announced as expired: longer than a transaction can take that sets an end in its near
 * future. So no such grant appears behind the place that the search has reached.
 */
const MARGIN_SECONDS = 15;

/** Events of grants that no statement changes when they end. Row locks keep several instances from doing the same work. */
export function createPgWebhookCauses(pool: pg.Pool): WebhookCauseStore {
  return translatingErrors({
    addExpired: (size) => transact(pool, (tx) => addExpired(tx, size)),
    addRevokedWithApp: (size) => transact(pool, (tx) => addRevokedWithApp(tx, size)),
  });
}

interface Place {
  readonly placeAt: Date | null;
  readonly placeId: string;
}

interface GrantPlace {
  readonly id: string;
  readonly at: Date;
}

/** In the order of their ends. A grant that was revoked, alone or with its app, only after its end has expired all the same. */
async function addExpired(tx: pg.ClientBase, size: number): Promise<boolean> {
  const [place] = await select<Place>(tx)`
    SELECT place_at AS "placeAt", place_id AS "placeId" FROM webhook_scan FOR UPDATE SKIP LOCKED`;
  if (place === undefined) return false;
  const grants = await select<GrantPlace>(tx)`
    SELECT id, expires_at AS at FROM consent_grant
    WHERE (expires_at, id) > (${place.placeAt}, ${place.placeId})
      AND expires_at <= statement_timestamp() - make_interval(secs => ${MARGIN_SECONDS}::int)
    ORDER BY expires_at, id LIMIT ${size}`;
  const last = grants.at(-1);
  if (last === undefined) return false;
  await execute(tx)`
    WITH expired AS (
      SELECT g.* FROM consent_grant g
      LEFT JOIN app_epoch e ON e.client_id = g.client_id AND e.epoch = g.app_epoch + 1
      WHERE g.id = ANY(${grants.map(({ id }) => id)}::text[])
        AND g.expires_at <= coalesce(g.revoked_at, 'infinity') AND g.expires_at <= coalesce(e.started_at, 'infinity')
      ORDER BY g.id FOR KEY SHARE OF g
    )
    ${insertEvents('grant.expired', sql`expired`, { endedBy: 'expiry' })}`;
  await execute(tx)`UPDATE webhook_scan SET place_at = ${last.at}, place_id = ${last.id}`;
  return grants.length === size;
}

/** Those whose epoch ended with this revocation, and that were live then, in the order of their start. */
async function addRevokedWithApp(tx: pg.ClientBase, size: number): Promise<boolean> {
  const [fanout] = await select<Place & { clientId: string; endedAt: Date }>(tx)`
    SELECT client_id AS "clientId", ended_at AS "endedAt", place_at AS "placeAt", place_id AS "placeId"
    FROM webhook_fanout LIMIT 1 FOR UPDATE SKIP LOCKED`;
  if (fanout === undefined) return false;
  const { clientId, endedAt, placeAt, placeId } = fanout;
  const grants = await select<GrantPlace>(tx)`
    SELECT id, granted_at AS at FROM consent_grant
    WHERE client_id = ${clientId} AND (granted_at, id) > (coalesce(${placeAt}::timestamptz, '-infinity'), ${placeId})
    ORDER BY granted_at, id LIMIT ${size}`;
  await execute(tx)`
    WITH ended AS (
      SELECT g.* FROM consent_grant g
      JOIN app_epoch e ON e.client_id = g.client_id AND e.epoch = g.app_epoch + 1 AND e.started_at = ${endedAt}
      WHERE g.id = ANY(${grants.map(({ id }) => id)}::text[]) AND g.expires_at > ${endedAt}
        AND coalesce(g.revoked_at, 'infinity') > ${endedAt}
      ORDER BY g.id FOR KEY SHARE OF g
    )
    ${insertEvents('grant.revoked', sql`ended`, { endedBy: 'developer' })}`;
  const last = grants.length < size ? undefined : grants.at(-1);
  await (last === undefined
    ? execute(tx)`DELETE FROM webhook_fanout WHERE client_id = ${clientId} AND ended_at = ${endedAt}`
    : execute(tx)`
        UPDATE webhook_fanout SET place_at = ${last.at}, place_id = ${last.id}
        WHERE client_id = ${clientId} AND ended_at = ${endedAt}`);
  return true;
}
