import { offsetOf, type Page } from '@phds/catalog/pagination';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { join, type Sql } from 'sql-template-tag';
import type { AccessFilter, AccessHistoryStore, DayFilter } from '../app/access-ports.ts';
import { type AccessDay, type AccessEntry, toAccessId } from '../domain/access.ts';
import { accessCounts, localAccessCounts, refOf, within } from './access-counts-sql.ts';

const DAY_MS = 86_400_000;

/** The access history: entries from the records, totals from the counts. */
export function createPgAccessHistory(pool: pg.Pool): AccessHistoryStore {
  return translatingErrors({
    async list(userId, filter, page) {
      if (await isForeign(pool, filter.grantId, userId)) return null;
      const [items, total] = await Promise.all([
        selectEntries(pool, toCondition(userId, filter), page),
        countEntries(pool, userId, filter),
      ]);
      return { items, total };
    },
    async listBefore(userId, filter, uuid, limit) {
      if (await isForeign(pool, filter.grantId, userId)) return null;
      const where = toCondition(userId, filter);
      const older = uuid === null ? where : sql`${where} AND r.id < ${uuid}::uuid`;
      return selectEntries(pool, older, { page: 1, pageSize: limit });
    },
    async days(userId, filter, range) {
      if (await isForeign(pool, filter.grantId, userId)) return null;
      const counts = accessCounts(ofUser(userId, filter));
      return selectDays(pool, userId, filter, sql`${counts} c WHERE ${within(range)}`);
    },
    async localDays(userId, filter, days) {
      if (await isForeign(pool, filter.grantId, userId)) return null;
      return selectDays(pool, userId, filter, sql`${localAccessCounts(ofUser(userId, filter), days)} c`);
    },
  });
}

async function isForeign(pool: pg.Pool, grantId: string | null, userId: string): Promise<boolean> {
  if (grantId === null) return false;
  return (await execute(pool)`SELECT FROM consent_grant WHERE id = ${grantId} AND user_id = ${userId}`) === 0;
}

/** Selects the page first, so that refusals are looked up only for its records; each is later than the record it refers to. */
async function selectEntries(pool: pg.Pool, where: Sql, page: Page): Promise<AccessEntry[]> {
  const entries = await select<AccessEntry>(pool)`
    SELECT p.id::text AS id, p.at, p.client_id AS "clientId", p.grant_id AS "grantId",
      coalesce(shown_app_of(p.grant_id, p.client_id, p.at)->>'name', a.name, '') AS "appName",
      coalesce(a.name, '') AS "currentAppName", p.scope, p.endpoint, p.window_from AS "from", p.window_to AS "to", p.page,
      p.record_count AS "recordCount", p.request_id AS "requestId", coalesce(f.verdict, 'released') AS verdict
    FROM (SELECT * FROM access_record r WHERE ${where} AND r.refers_to IS NULL
      ORDER BY r.id DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}) p
    LEFT JOIN LATERAL (SELECT verdict FROM access_record f WHERE f.refers_to = p.id AND f.id > p.id LIMIT 1) f ON true
    LEFT JOIN app a ON a.client_id = p.client_id
    ORDER BY p.id DESC`;
  return entries.map((entry) => ({ ...entry, id: toAccessId(entry.id) }));
}

/**
 * `counts` is what follows FROM: counts by day with the alias `c`. A refusal may be counted for another local day than its record if
 * an earlier release counted only one of them; then `released` is not less than 0. An app has one name for all of its days: as shown by the latest approval of the filtered grant, else of the person's latest
 * grant.
 */
function selectDays(pool: pg.Pool, userId: string, filter: DayFilter, counts: Sql): Promise<AccessDay[]> {
  const grant =
    filter.grantId === null
      ? sql`user_id = ${userId} AND client_id = d.client_id`
      : sql`id = ${filter.grantId}`;
  return select<AccessDay>(pool)`
    WITH scopes AS (
      SELECT c.day, c.client_id, c.scope, greatest(sum(c.recorded - c.refused), 0)::int AS released, sum(c.refused)::int AS refused
      FROM ${counts} GROUP BY c.day, c.client_id, c.scope
    ), days AS (
      SELECT day, client_id, sum(released)::int AS released, sum(refused)::int AS refused,
        jsonb_agg(jsonb_build_object('scope', scope, 'released', released, 'refused', refused) ORDER BY scope) AS scopes
      FROM scopes GROUP BY day, client_id
    ), names AS MATERIALIZED (
      SELECT d.client_id, a.name AS current_name, shown_app_of(g.id, d.client_id, 'infinity')->>'name' AS shown_name
      FROM (SELECT DISTINCT client_id FROM days) d
      LEFT JOIN app a ON a.client_id = d.client_id
      LEFT JOIN LATERAL (SELECT id FROM consent_grant WHERE ${grant}
        ORDER BY granted_at DESC LIMIT 1) g ON true
    )
    SELECT to_char(day, 'YYYY-MM-DD') AS date, client_id AS "clientId", coalesce(shown_name, current_name, '') AS "appName",
      coalesce(current_name, '') AS "currentAppName", released, refused, scopes
    FROM days JOIN names USING (client_id) ORDER BY day DESC, client_id`;
}

function toCondition(userId: string, filter: AccessFilter): Sql {
  return sql`${ofUser(userId, filter)} AND ${between(filter.from, filter.to)}`;
}

/** Uses the daily counts for whole days, and the records for the at most two days that the filter cuts. */
async function countEntries(pool: pg.Pool, userId: string, filter: AccessFilter): Promise<number> {
  const where = ofUser(userId, filter);
  const { from, to } = filter;
  const firstDay = from === null ? null : new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS);
  const endDay = to === null ? null : new Date(Math.floor(to.getTime() / DAY_MS) * DAY_MS);
  const records = (start: Date | null, end: Date | null) =>
    sql`(SELECT count(*) FROM access_record r WHERE ${where} AND r.refers_to IS NULL AND ${between(start, end)})`;
  const isWithinDay = firstDay !== null && endDay !== null && firstDay > endDay;
  const days = sql`(SELECT coalesce(sum(c.recorded), 0) FROM ${accessCounts(where)} c
    WHERE c.day >= ${toDay(firstDay, '-infinity')}::date AND c.day < ${toDay(endDay, 'infinity')}::date)`;
  const parts = isWithinDay ? [records(from, to)] : [days];
  if (!isWithinDay && firstDay !== null) parts.push(records(from, firstDay));
  if (!isWithinDay && endDay !== null) parts.push(records(endDay, to));
  const [counted] = await select<{ total: number }>(pool)`
    SELECT (${join(parts, ' + ')})::int AS total`;
  return counted?.total ?? 0;
}

function toDay(day: Date | null, unbounded: string): string {
  if (day === null) return unbounded;
  // Beyond the last day with a four-digit year.
  return day.getUTCFullYear() > 9999 ? 'infinity' : day.toISOString().slice(0, 10);
}

function ofUser(userId: string, filter: DayFilter): Sql {
  const conditions = [sql`r.user_ref = ${refOf(userId)}`];
  if (filter.grantId !== null) conditions.push(sql`r.grant_id = ${filter.grantId}`);
  if (filter.clientId !== null) conditions.push(sql`r.client_id = ${filter.clientId}`);
  if (filter.scope !== null) conditions.push(sql`r.scope = ${filter.scope}`);
  return join(conditions, ' AND ');
}

/** Filters by id, which starts with the time, so that other months' partitions are pruned. */
function between(from: Date | null, to: Date | null): Sql {
  const conditions = [sql`true`];
  if (from !== null) conditions.push(sql`r.id >= first_id_of(${from}::timestamptz)`);
  if (to !== null) conditions.push(sql`r.id < first_id_of(${to}::timestamptz)`);
  return join(conditions, ' AND ');
}
