import { SANDBOX_USER_PREFIX } from '@phds/catalog/sandbox';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { NoticeScanStore, ScannedGrants } from '../app/notice-ports.ts';
import type { NewNotice } from '../domain/notice.ts';
import {
  type EndingGrant,
  type GrantDates,
  type HeavyDay,
  mayAnnounceEnd,
  PAST_DAYS,
  toEndingId,
  toUnusualId,
  USUAL_READS,
} from '../domain/scanned-grant.ts';
import { dailyReads } from './daily-reads-sql.ts';
import { GRANT_FROM, LIVE } from './grant-rows.ts';
import { PLACE_COLUMNS, type Place, selectByEnd } from './grants-by-end.ts';
import {
  addGrantNotices,
  CONNECTION_COLUMNS,
  type ConnectionRow,
  findNoticeIds,
  toConnection,
} from './notice-rows.ts';

const DAY_MS = 86_400_000;

/**
 * The search over `consent_grant` in the order of the grants' ends, from those that ended yesterday. Table `notice_scan` holds how
 * far it got; its row is locked while a part is checked.
 */
export function createPgNoticeScan(pool: pg.Pool): NoticeScanStore {
  return translatingErrors({
    scanNext: (options, judge) => transact(pool, (tx) => scanNext(tx, options, judge)),
  });
}

async function scanNext(
  tx: pg.ClientBase,
  { intervalMs, size }: { intervalMs: number; size: number },
  judge: (scanned: ScannedGrants) => readonly NewNotice[],
): Promise<boolean> {
  const place = await lockPlace(tx, intervalMs);
  if (place === null) return false;
  const { now, startedAt } = place;
  const grants = await selectByEnd(tx, place, sql`NOT starts_with(user_id, ${SANDBOX_USER_PREFIX})`, size);
  const ending = await selectEnding(tx, grants, now);
  const heavyDays = await selectHeavyDays(tx, grants, now);
  await addGrantNotices(tx, judge({ now, ending, heavyDays }));
  const last = grants.length < size ? undefined : grants.at(-1);
  await execute(tx)`
    UPDATE notice_scan SET started_at = ${startedAt}, place_at = ${last?.expiresAt ?? null}::timestamptz,
      place_id = ${last?.id ?? ''}`;
  return last !== undefined;
}

interface Search extends Place {
  readonly now: Date;
  readonly startedAt: Date;
}

/** Where the search continues or begins again; null when it is not due, or when another instance is searching. */
async function lockPlace(tx: pg.ClientBase, intervalMs: number): Promise<Search | null> {
  const [row] = await select<Place & { now: Date; startedAt: Date | null }>(tx)`
    SELECT statement_timestamp() AS now, started_at AS "startedAt", ${PLACE_COLUMNS}
    FROM notice_scan FOR UPDATE SKIP LOCKED`;
  if (row === undefined) return null;
  const { now, startedAt, placeAt, placeId } = row;
  if (startedAt !== null && placeAt !== null) return { now, startedAt, placeAt, placeId };
  const elapsedMs = now.getTime() - (startedAt?.getTime() ?? Number.NEGATIVE_INFINITY);
  // A start in the future is from before the clock went back.
  if (elapsedMs >= 0 && elapsedMs < intervalMs) return null;
  return { now, startedAt: now, placeAt: new Date(`${toDay(now, -1)}T00:00:00Z`), placeId: '' };
}

/** The grants whose end may have to be announced, without those that were. */
async function selectEnding(
  tx: pg.ClientBase,
  grants: readonly GrantDates[],
  now: Date,
): Promise<EndingGrant[]> {
  const near = grants.filter((grant) => mayAnnounceEnd(grant, now));
  const known = await findNoticeIds(
    tx,
    near.map(({ id, expiresAt }) => toEndingId(id, expiresAt)),
  );
  const ids = near.filter(({ id, expiresAt }) => !known.has(toEndingId(id, expiresAt))).map(({ id }) => id);
  if (ids.length === 0) return [];
  const rows = await select<ConnectionRow & { endSetAt: Date }>(tx)`
    SELECT ${CONNECTION_COLUMNS}, coalesce(
        (SELECT min(v.at) FROM consent_event v WHERE v.grant_id = g.id AND v.expires_at = g.expires_at), g.granted_at
      ) AS "endSetAt"
    FROM ${GRANT_FROM} WHERE g.id = ANY(${ids}::text[]) AND ${LIVE}`;
  return rows.map((row) => ({
    userId: row.userId,
    connection: toConnection(row),
    endSetAt: row.endSetAt,
  }));
}

interface CountedDay {
  readonly grantId: string;
  readonly day: string;
  readonly reads: number;
}

/** The heavy days among yesterday and today, without those that were found unusual. Yesterday's last reads are counted today. */
async function selectHeavyDays(
  tx: pg.ClientBase,
  grants: readonly GrantDates[],
  now: Date,
): Promise<HeavyDay[]> {
  const [yesterday, today] = [sql`${toDay(now, -1)}::date`, sql`${toDay(now, 0)}::date`];
  const heavy = await select<CountedDay>(tx)`
    SELECT g.id AS "grantId", to_char(d.day, 'YYYY-MM-DD') AS day, d.reads
    FROM consent_grant g CROSS JOIN LATERAL ${dailyReads(yesterday, today)} d
    WHERE g.id = ANY(${grants.map(({ id }) => id)}::text[]) AND d.reads > ${USUAL_READS}`;
  const known = await findNoticeIds(
    tx,
    heavy.map(({ grantId, day }) => toUnusualId(grantId, day)),
  );
  const unknown = heavy.filter(({ grantId, day }) => !known.has(toUnusualId(grantId, day)));
  return unknown.length === 0 ? [] : addPast(tx, unknown);
}

async function addPast(tx: pg.ClientBase, heavy: readonly CountedDay[]): Promise<HeavyDay[]> {
  const past = dailyReads(sql`p.first_day`, sql`h.day - 1`);
  const rows = await select<ConnectionRow & Omit<HeavyDay, 'connection'>>(tx)`
    SELECT ${CONNECTION_COLUMNS}, to_char(h.day, 'YYYY-MM-DD') AS day, h.reads, h.day - p.first_day AS "pastDays",
      (SELECT coalesce(sum(d.reads), 0) FROM ${past} d) AS "pastReads"
    FROM unnest(${heavy.map(({ grantId }) => grantId)}::text[], ${heavy.map(({ day }) => day)}::date[],
      ${heavy.map(({ reads }) => reads)}::double precision[]) AS h(id, day, reads)
    JOIN consent_grant g ON g.id = h.id
    JOIN app a ON a.client_id = g.client_id
    CROSS JOIN LATERAL (
      SELECT greatest((g.granted_at AT TIME ZONE 'UTC')::date, h.day - ${PAST_DAYS}::int) AS first_day) p`;
  return rows.map((row) => {
    const { userId, day, reads, pastReads, pastDays } = row;
    return { userId, connection: toConnection(row), day, reads, pastReads, pastDays };
  });
}

/** The UTC day, some days later, as `YYYY-MM-DD`. */
function toDay(time: Date, days: number): string {
  return new Date(time.getTime() + days * DAY_MS).toISOString().slice(0, 10);
}
