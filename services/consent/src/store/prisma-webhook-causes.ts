import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { WebhookCauseStore } from '../app/webhook-ports.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { insertEvents } from './webhook-event-rows.ts';

/**
 * Seconds after its end from which a grant is announced as expired: longer than a transaction can take that sets an end in its near
 * future. So no such grant appears behind the place that the search has reached.
 */
const MARGIN_SECONDS = 15;

/** Events of grants that no statement changes when they end. Row locks keep several instances from doing the same work. */
export function createPrismaWebhookCauses(prisma: PrismaClient): WebhookCauseStore {
  return translatingErrors({
    addExpired: (size) => prisma.$transaction((tx) => addExpired(tx, size)),
    addRevokedWithApp: (size) => prisma.$transaction((tx) => addRevokedWithApp(tx, size)),
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
async function addExpired(tx: Prisma.TransactionClient, size: number): Promise<boolean> {
  const [place] = await tx.$queryRaw<Place[]>`
    SELECT place_at AS "placeAt", place_id AS "placeId" FROM webhook_scan FOR UPDATE SKIP LOCKED`;
  if (place === undefined) return false;
  const grants = await tx.$queryRaw<GrantPlace[]>`
    SELECT id, expires_at AS at FROM consent_grant
    WHERE (expires_at, id) > (${place.placeAt}, ${place.placeId})
      AND expires_at <= statement_timestamp() - make_interval(secs => ${MARGIN_SECONDS}::int)
    ORDER BY expires_at, id LIMIT ${size}`;
  const last = grants.at(-1);
  if (last === undefined) return false;
  await tx.$executeRaw`
    WITH expired AS (
      SELECT g.* FROM consent_grant g
      LEFT JOIN app_epoch e ON e.client_id = g.client_id AND e.epoch = g.app_epoch + 1
      WHERE g.id = ANY(${grants.map(({ id }) => id)}::text[])
        AND g.expires_at <= coalesce(g.revoked_at, 'infinity') AND g.expires_at <= coalesce(e.started_at, 'infinity')
      ORDER BY g.id FOR KEY SHARE OF g
    )
    ${insertEvents('grant.expired', Prisma.sql`expired`, { endedBy: 'expiry' })}`;
  await tx.$executeRaw`UPDATE webhook_scan SET place_at = ${last.at}, place_id = ${last.id}`;
  return grants.length === size;
}

/** Those whose epoch ended with this revocation, and that were live then, in the order of their start. */
async function addRevokedWithApp(tx: Prisma.TransactionClient, size: number): Promise<boolean> {
  const [fanout] = await tx.$queryRaw<(Place & { clientId: string; endedAt: Date })[]>`
    SELECT client_id AS "clientId", ended_at AS "endedAt", place_at AS "placeAt", place_id AS "placeId"
    FROM webhook_fanout LIMIT 1 FOR UPDATE SKIP LOCKED`;
  if (fanout === undefined) return false;
  const { clientId, endedAt, placeAt, placeId } = fanout;
  const grants = await tx.$queryRaw<GrantPlace[]>`
    SELECT id, granted_at AS at FROM consent_grant
    WHERE client_id = ${clientId} AND (granted_at, id) > (coalesce(${placeAt}::timestamptz, '-infinity'), ${placeId})
    ORDER BY granted_at, id LIMIT ${size}`;
  await tx.$executeRaw`
    WITH ended AS (
      SELECT g.* FROM consent_grant g
      JOIN app_epoch e ON e.client_id = g.client_id AND e.epoch = g.app_epoch + 1 AND e.started_at = ${endedAt}
      WHERE g.id = ANY(${grants.map(({ id }) => id)}::text[]) AND g.expires_at > ${endedAt}
        AND coalesce(g.revoked_at, 'infinity') > ${endedAt}
      ORDER BY g.id FOR KEY SHARE OF g
    )
    ${insertEvents('grant.revoked', Prisma.sql`ended`, { endedBy: 'developer' })}`;
  const last = grants.length < size ? undefined : grants.at(-1);
  await (last === undefined
    ? tx.$executeRaw`DELETE FROM webhook_fanout WHERE client_id = ${clientId} AND ended_at = ${endedAt}`
    : tx.$executeRaw`
        UPDATE webhook_fanout SET place_at = ${last.at}, place_id = ${last.id}
        WHERE client_id = ${clientId} AND ended_at = ${endedAt}`);
  return true;
}
