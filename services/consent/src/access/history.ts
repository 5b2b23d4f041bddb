import type { Message } from '@bufbuild/protobuf';
import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import type { AccessDay as AccessDayMessage, AccessRecord } from '@phds/contracts/phds/consent/v1/access_pb';
import { createTurns, type Turns } from '@phds/service-kit/batcher';
import type { Clock } from '@phds/service-kit/clock';
import { notFound } from '@phds/service-kit/errors';
import { toHalf } from '@phds/service-kit/postgres/postgres';
import { select } from '@phds/service-kit/postgres/sql';
import type { Row } from '@phds/service-kit/rpc/rows';
import type pg from 'pg';
import sql, { join, type Sql } from 'sql-template-tag';
import { accessCounts, type DayRange, localAccessCounts, within } from './counts-sql.ts';
import { type LocalDays, latestDays, toLocalDays } from './local-days.ts';

const DAY_MS = 86_400_000;

/** Number of accesses in one piece of an export; with the longest texts they fit into one message. */
const EXPORT_PIECE = 500;
const USUAL_DAYS = 30;
const TURNS = { perKey: 2, maxPerKey: 20, maxWaitMs: 2_000 };

/** The turns of people for their history and for the usage of their apps: who reads much of both leaves connections to others. */
export const createHistoryTurns = (pool: pg.Pool) => createTurns({ ...TURNS, atOnce: toHalf(pool) });

export interface AccessFilter {
  readonly grantId: string | null;
  readonly clientId: string | null;
  /** Name of a scope, which a record may name among others. */
  readonly scope: string | null;
  /** `from` is inclusive, `to` exclusive. */
  readonly from: Date | null;
  readonly to: Date | null;
}

/** The filters of daily counts. */
export type DayFilter = Pick<AccessFilter, 'grantId' | 'clientId' | 'scope'>;

type AccessEntry = Row<AccessRecord>;
type AccessDay = Omit<AccessDayMessage, keyof Message>;
type UnnamedDay = Omit<AccessDay, 'appName' | 'currentAppName'>;
type CountedDay = Omit<UnnamedDay, 'attempts'>;

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool };
  readonly turns: Turns;
  readonly clock: Clock;
}

export type AccessHistory = ReturnType<typeof createAccessHistory>;

/** Who read a person's data: entries from the records, and totals from the counts. Throws `not_found` for another user's grant. */
export function createAccessHistory({ pools: { ordinary: pool }, turns, clock }: Parts) {
  return {
    list: (userId: string, filter: AccessFilter, page: Page): Promise<Listed<AccessEntry>> =>
      turns(userId, async () => {
        const where = await findCondition(pool, userId, filter);
        const [items, total] = await Promise.all([
          selectEntries(pool, inPeriod(where, filter), page),
          countEntries(pool, where, filter),
        ]);
        return { items, total };
      }),
    /** One piece for an export, older than the record with that UUID; empty at the end. */
    exportPiece: (userId: string, filter: AccessFilter, afterUuid: string | null): Promise<AccessEntry[]> =>
      turns(userId, async () => {
        const where = inPeriod(await findCondition(pool, userId, filter), filter);
        const older = afterUuid === null ? where : sql`${where} AND r.id < ${afterUuid}::uuid`;
        return selectEntries(pool, older, { page: 1, pageSize: EXPORT_PIECE });
      }),
    /**
     * By day of a time zone, newest first, then by app. A null range means the last 30 days.
     */
    days: (
      userId: string,
      filter: DayFilter,
      range: DayRange | null,
      timeZone: string,
    ): Promise<AccessDay[]> =>
      turns(userId, async () => {
        const where = await findCondition(pool, userId, filter);
        const local = toLocal(range, clock.now(), timeZone);
        const days = await selectDays(pool, localAccessCounts(where, local));
        const attempts = await selectAttempts(pool, userId, filter, local);
        return addNames(pool, userId, filter, addAttempts(days, attempts));
      }),
  };
}

function toLocal(range: DayRange | null, now: Date, timeZone: string): LocalDays {
  return range === null ? latestDays(USUAL_DAYS, now, timeZone) : toLocalDays(range.from, range.to, timeZone);
}

/** The condition of a filter except for its times: on records `r` and their counts. Throws `not_found` when it names a grant of another user. */
async function findCondition(pool: pg.Pool, userId: string, filter: DayFilter): Promise<Sql> {
  const { grantId } = filter;
  const [known] = await select<{ ref: string | null; isForeign: boolean }>(pool)`
    SELECT (SELECT user_ref::text FROM person WHERE user_id = ${userId}) AS ref,
      ${grantId}::text IS NOT NULL
        AND NOT EXISTS (SELECT FROM consent_grant WHERE id = ${grantId} AND user_id = ${userId}) AS "isForeign"`;
  if (known === undefined || known.isForeign) throw notFound();
  return ofPerson(known.ref, filter);
}

/** Selects the page first, so that refusals are looked up only for its records; each is later than the record it refers to. */
function selectEntries(pool: pg.Pool, where: Sql, page: Page): Promise<AccessEntry[]> {
  return select<AccessEntry>(pool)`
    SELECT 'acc_' || replace(p.id::text, '-', '') AS id, p.at, p.client_id AS "clientId", p.grant_id AS "grantId", p.scope, p.endpoint, p.window_from AS "from", p.window_to AS "to", p.page,
      p.record_count AS "recordCount", p.request_id AS "requestId", coalesce(f.verdict, 'released') AS verdict,
      coalesce(shown_app_of(p.grant_id, p.at)->>'name', a.profile->>'name', '') AS "appName", coalesce(a.profile->>'name', '') AS "currentAppName"
    FROM (SELECT * FROM access_record r WHERE ${where} AND r.refers_to IS NULL
      ORDER BY r.id DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}) p
    LEFT JOIN app a ON a.client_id = p.client_id
    LEFT JOIN LATERAL (SELECT verdict FROM access_record f WHERE f.refers_to = p.id AND f.id > p.id LIMIT 1) f ON true
    ORDER BY p.id DESC`;
}

/** `counts` is what follows FROM: counts by day. */
function selectDays(pool: pg.Pool, counts: Sql): Promise<CountedDay[]> {
  return select<CountedDay>(pool)`
    WITH scopes AS (
      SELECT c.day, c.client_id, c.scope, sum(c.recorded - c.refused)::int AS released, sum(c.refused)::int AS refused
      FROM ${counts} c GROUP BY c.day, c.client_id, c.scope
    )
    SELECT to_char(day, 'YYYY-MM-DD') AS date, client_id AS "clientId", sum(released)::int AS released, sum(refused)::int AS refused,
      jsonb_agg(jsonb_build_object('scope', scope, 'released', released, 'refused', refused) ORDER BY scope) AS scopes
    FROM scopes GROUP BY day, client_id ORDER BY day DESC, client_id`;
}

type Attempts = Pick<UnnamedDay, 'date' | 'clientId' | 'attempts'>;

/** Attempts are known by UTC day, and not by scope. Index: consent_grant_user_id_granted_at_id_idx, then the primary key. */
async function selectAttempts(
  pool: pg.Pool,
  userId: string,
  { grantId, clientId, scope }: DayFilter,
  days: DayRange,
): Promise<Attempts[]> {
  if (scope !== null) return [];
  return select<Attempts>(pool)`
    SELECT to_char(c.day, 'YYYY-MM-DD') AS date, g.client_id AS "clientId", sum(c.count)::int AS attempts
    FROM consent_grant g JOIN refused_read c ON c.grant_id = g.id
    WHERE g.user_id = ${userId} AND g.id = coalesce(${grantId}, g.id) AND g.client_id = coalesce(${clientId}, g.client_id)
      AND ${within(days)}
    GROUP BY c.day, g.client_id`;
}

/** Also days on which an app only tried. Newest first, then by app. */
function addAttempts(days: readonly CountedDay[], attempts: readonly Attempts[]): UnnamedDay[] {
  const keyOf = ({ date, clientId }: Pick<UnnamedDay, 'date' | 'clientId'>) => `${date} ${clientId}`;
  const byKey = new Map<string, UnnamedDay>(days.map((day) => [keyOf(day), { ...day, attempts: 0 }]));
  for (const tried of attempts) {
    const known = byKey.get(keyOf(tried)) ?? { released: 0, refused: 0, scopes: [] };
    byKey.set(keyOf(tried), { ...known, ...tried });
  }
  return [...byKey.values()].sort((a, b) => compare(b.date, a.date) || compare(a.clientId, b.clientId));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** An app has one name for all of its days: as shown by the latest approval of the filtered grant, else of the person's latest grant. */
async function addNames(
  pool: pg.Pool,
  userId: string,
  { grantId }: DayFilter,
  days: readonly UnnamedDay[],
): Promise<AccessDay[]> {
  if (days.length === 0) return [];
  const grant =
    grantId === null ? sql`user_id = ${userId} AND client_id = d.client_id` : sql`id = ${grantId}`;
  const names = await select<{ clientId: string; shown: string | null; current: string | null }>(pool)`
    SELECT d.client_id AS "clientId", a.profile->>'name' AS current, shown_app_of(g.id, 'infinity')->>'name' AS shown
    FROM unnest(${[...new Set(days.map(({ clientId }) => clientId))]}::text[]) d(client_id)
    LEFT JOIN app a ON a.client_id = d.client_id
    LEFT JOIN LATERAL (SELECT id FROM consent_grant WHERE ${grant}
      ORDER BY granted_at DESC LIMIT 1) g ON true`;
  const byApp = new Map(names.map((name) => [name.clientId, name]));
  return days.map((day) => {
    const current = byApp.get(day.clientId)?.current ?? '';
    return { ...day, appName: byApp.get(day.clientId)?.shown ?? current, currentAppName: current };
  });
}

function inPeriod(where: Sql, { from, to }: AccessFilter): Sql {
  return sql`${where} AND ${between(from, to)}`;
}

/** Uses the daily counts for whole days, and the records for the at most two days that the filter cuts. */
async function countEntries(pool: pg.Pool, where: Sql, { from, to }: AccessFilter): Promise<number> {
  const firstDay = from === null ? null : new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS);
  const endDay = to === null ? null : new Date(Math.floor(to.getTime() / DAY_MS) * DAY_MS);
  const counted = (start: Date | null, end: Date | null) =>
    sql`(SELECT count(*) FROM access_record r WHERE ${where} AND r.refers_to IS NULL AND ${between(start, end)})`;
  const isWithinDay = firstDay !== null && endDay !== null && firstDay > endDay;
  const days = sql`(SELECT coalesce(sum(c.recorded), 0) FROM ${accessCounts(where)} c
    WHERE c.day >= ${toDay(firstDay, '-infinity')}::date AND c.day < ${toDay(endDay, 'infinity')}::date)`;
  const parts = isWithinDay ? [counted(from, to)] : [days];
  if (!isWithinDay && firstDay !== null) parts.push(counted(from, firstDay));
  if (!isWithinDay && endDay !== null) parts.push(counted(endDay, to));
  const [sum] = await select<{ total: number }>(pool)`
    SELECT (${join(parts, ' + ')})::int AS total`;
  return sum?.total ?? 0;
}

function toDay(day: Date | null, unbounded: string): string {
  if (day === null) return unbounded;
  // Beyond the last day with a four-digit year.
  return day.getUTCFullYear() > 9999 ? 'infinity' : day.toISOString().slice(0, 10);
}

/** `ref` is null for one who never gave a consent. */
function ofPerson(ref: string | null, filter: DayFilter): Sql {
  const conditions = [sql`r.user_ref = ${ref}::uuid`];
  if (filter.grantId !== null) conditions.push(sql`r.grant_id = ${filter.grantId}`);
  if (filter.clientId !== null) conditions.push(sql`r.client_id = ${filter.clientId}`);
  if (filter.scope !== null) conditions.push(sql`${filter.scope} = ANY (string_to_array(r.scope, ' '))`);
  return join(conditions, ' AND ');
}

/** Filters by id, which starts with the time, so that other months' partitions are pruned. */
function between(from: Date | null, to: Date | null): Sql {
  const conditions = [sql`true`];
  if (from !== null) conditions.push(sql`r.id >= first_id_of(${from}::timestamptz)`);
  if (to !== null) conditions.push(sql`r.id < first_id_of(${to}::timestamptz)`);
  return join(conditions, ' AND ');
}
