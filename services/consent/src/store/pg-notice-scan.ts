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
import { type FoundGrant, PLACE_COLUMNS, type Place, selectByEnd } from './grants-by-end.ts';
import {
  addGrantNotices,
  CONNECTION_COLUMNS,
  type ConnectionRow,
  findNoticeIds,
  toConnection,
} from './notice-rows.ts';

const DAY_MS = 86_400_000;

interface NoticeScanPools {
  readonly ledger: pg.Pool;
  /** Another pool, because it is used during a transaction of the first one. */
  readonly records: pg.Pool;
}

/**
 * The search over `consent_grant` in the order of the grants' ends, from those that ended yesterday. Table `notice_scan` holds how
 * far it got; its row is locked while a part is checked.
 */
export function createPgNoticeScan({ ledger, records }: NoticeScanPools): NoticeScanStore {
  return translatingErrors({
    scanNext: (options, judge) => transact(ledger, (tx) => scanNext(tx, records, options, judge)),
  });
}

async function scanNext(
  tx: pg.ClientBase,
  records: pg.Pool,
  { intervalMs, size }: { intervalMs: number; size: number },
  judge: (scanned: ScannedGrants) => readonly NewNotice[],
): Promise<boolean> {
  const place = await lockPlace(tx, intervalMs);
  if (place === null) return false;
  const { now, startedAt } = place;
  const grants = await selectByEnd(tx, place, sql`NOT starts_with(user_id, ${SANDBOX_USER_PREFIX})`, size);
  const ending = await selectEnding(tx, grants, now);
  const heavyDays = await selectHeavyDays(tx, records, grants, now);
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
  records: pg.Pool,
  grants: readonly FoundGrant[],
  now: Date,
): Promise<HeavyDay[]> {
  const [yesterday, today] = [sql`${toDay(now, -1)}::date`, sql`${toDay(now, 0)}::date`];
  const heavy = await select<CountedDay>(records)`
    SELECT g.id AS "grantId", to_char(d.day, 'YYYY-MM-DD') AS day, d.reads
    FROM unnest(${grants.map(({ id }) => id)}::text[], ${grants.map(({ userRef }) => userRef)}::uuid[]) AS g(id, user_ref)
    CROSS JOIN LATERAL ${dailyReads(yesterday, today)} d WHERE d.reads > ${USUAL_READS}`;
  const known = await findNoticeIds(
    tx,
    heavy.map(({ grantId, day }) => toUnusualId(grantId, day)),
  );
  const unknown = heavy.filter(({ grantId, day }) => !known.has(toUnusualId(grantId, day)));
  return unknown.length === 0 ? [] : addPast(tx, records, unknown);
}

/** A heavy day of a grant that is still there, and from when on the days before count. */
type DatedDay = ConnectionRow &
  Omit<HeavyDay, 'connection' | 'pastReads'> & { readonly userRef: string; readonly firstDay: string };

async function addPast(
  tx: pg.ClientBase,
  records: pg.Pool,
  heavy: readonly CountedDay[],
): Promise<HeavyDay[]> {
  const rows = await select<DatedDay>(tx)`
    SELECT ${CONNECTION_COLUMNS}, g.user_ref::text AS "userRef", to_char(h.day, 'YYYY-MM-DD') AS day, h.reads,
      p.first_day::text AS "firstDay", h.day - p.first_day AS "pastDays"
    FROM unnest(${heavy.map(({ grantId }) => grantId)}::text[], ${heavy.map(({ day }) => day)}::date[],
      ${heavy.map(({ reads }) => reads)}::double precision[]) AS h(id, day, reads)
    JOIN consent_grant g ON g.id = h.id
    JOIN app a ON a.client_id = g.client_id
    CROSS JOIN LATERAL (
      SELECT greatest((g.granted_at AT TIME ZONE 'UTC')::date, h.day - ${PAST_DAYS}::int) AS first_day) p`;
  const pastReads = await selectPastReads(records, rows);
  return rows.map((row, index) => {
    const { userId, day, reads, pastDays } = row;
    return { userId, connection: toConnection(row), day, reads, pastReads: pastReads[index] ?? 0, pastDays };
  });
}

/** What was read before each day, in order. */
async function selectPastReads(records: pg.Pool, days: readonly DatedDay[]): Promise<number[]> {
  const rows = await select<{ reads: number }>(records)`
    SELECT (SELECT coalesce(sum(d.reads), 0) FROM ${dailyReads(sql`g.first_day`, sql`g.day - 1`)} d) AS reads
    FROM unnest(${days.map(({ grantId }) => grantId)}::text[], ${days.map(({ userRef }) => userRef)}::uuid[],
      ${days.map(({ firstDay }) => firstDay)}::date[], ${days.map(({ day }) => day)}::date[]) WITH ORDINALITY
      AS g(id, user_ref, first_day, day, ordinal)
    ORDER BY g.ordinal`;
  return rows.map(({ reads }) => reads);
}

/** The UTC day, some days later, as `YYYY-MM-DD`. */
function toDay(time: Date, days: number): string {
  return new Date(time.getTime() + days * DAY_MS).toISOString().slice(0, 10);
}
