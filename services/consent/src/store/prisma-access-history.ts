import { offsetOf, type Page } from '@phds/catalog/pagination';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { AccessFilter, AccessHistoryStore, DayFilter } from '../app/access-ports.ts';
import { type AccessDay, type AccessEntry, toAccessId } from '../domain/access.ts';
import { accessCounts, localAccessCounts, refOf, within } from './access-counts-sql.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';

const DAY_MS = 86_400_000;

/** The access history: entries from the records, totals from the counts. */
export function createPrismaAccessHistory(prisma: PrismaClient): AccessHistoryStore {
  return translatingErrors({
    async list(userId, filter, page) {
      if (await isForeign(prisma, filter.grantId, userId)) return null;
      const [items, total] = await Promise.all([
        selectEntries(prisma, toCondition(userId, filter), page),
        countEntries(prisma, userId, filter),
      ]);
      return { items, total };
    },
    async listBefore(userId, filter, uuid, limit) {
      if (await isForeign(prisma, filter.grantId, userId)) return null;
      const where = toCondition(userId, filter);
      const older = uuid === null ? where : Prisma.sql`${where} AND r.id < ${uuid}::uuid`;
      return selectEntries(prisma, older, { page: 1, pageSize: limit });
    },
    async days(userId, filter, range) {
      if (await isForeign(prisma, filter.grantId, userId)) return null;
      const counts = accessCounts(ofUser(userId, filter));
      return selectDays(prisma, userId, filter, Prisma.sql`${counts} c WHERE ${within(range)}`);
    },
    async localDays(userId, filter, days) {
      if (await isForeign(prisma, filter.grantId, userId)) return null;
      return selectDays(
        prisma,
        userId,
        filter,
        Prisma.sql`${localAccessCounts(ofUser(userId, filter), days)} c`,
      );
    },
  });
}

async function isForeign(prisma: PrismaClient, grantId: string | null, userId: string): Promise<boolean> {
  if (grantId === null) return false;
  const own = await prisma.consentGrant.findFirst({ where: { id: grantId, userId }, select: { id: true } });
  return own === null;
}

/** Selects the page first, so that refusals are looked up only for its records; each is later than the record it refers to. */
async function selectEntries(prisma: PrismaClient, where: Prisma.Sql, page: Page): Promise<AccessEntry[]> {
  const entries = await prisma.$queryRaw<AccessEntry[]>`
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
function selectDays(
  prisma: PrismaClient,
  userId: string,
  filter: DayFilter,
  counts: Prisma.Sql,
): Promise<AccessDay[]> {
  const grant =
    filter.grantId === null
      ? Prisma.sql`user_id = ${userId} AND client_id = d.client_id`
      : Prisma.sql`id = ${filter.grantId}`;
  return prisma.$queryRaw`
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

function toCondition(userId: string, filter: AccessFilter): Prisma.Sql {
  return Prisma.sql`${ofUser(userId, filter)} AND ${between(filter.from, filter.to)}`;
}

/** Uses the daily counts for whole days, and the records for the at most two days that the filter cuts. */
async function countEntries(prisma: PrismaClient, userId: string, filter: AccessFilter): Promise<number> {
  const where = ofUser(userId, filter);
  const { from, to } = filter;
  const firstDay = from === null ? null : new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS);
  const endDay = to === null ? null : new Date(Math.floor(to.getTime() / DAY_MS) * DAY_MS);
  const records = (start: Date | null, end: Date | null) =>
    Prisma.sql`(SELECT count(*) FROM access_record r WHERE ${where} AND r.refers_to IS NULL AND ${between(start, end)})`;
  const isWithinDay = firstDay !== null && endDay !== null && firstDay > endDay;
  const days = Prisma.sql`(SELECT coalesce(sum(c.recorded), 0) FROM ${accessCounts(where)} c
    WHERE c.day >= ${toDay(firstDay, '-infinity')}::date AND c.day < ${toDay(endDay, 'infinity')}::date)`;
  const parts = isWithinDay ? [records(from, to)] : [days];
  if (!isWithinDay && firstDay !== null) parts.push(records(from, firstDay));
  if (!isWithinDay && endDay !== null) parts.push(records(endDay, to));
  const [counted] = await prisma.$queryRaw<{ total: number }[]>`
    SELECT (${Prisma.join(parts, ' + ')})::int AS total`;
  return counted?.total ?? 0;
}

function toDay(day: Date | null, unbounded: string): string {
  if (day === null) return unbounded;
  // Beyond the last day with a four-digit year.
  return day.getUTCFullYear() > 9999 ? 'infinity' : day.toISOString().slice(0, 10);
}

function ofUser(userId: string, filter: DayFilter): Prisma.Sql {
  const conditions = [Prisma.sql`r.user_ref = ${refOf(userId)}`];
  if (filter.grantId !== null) conditions.push(Prisma.sql`r.grant_id = ${filter.grantId}`);
  if (filter.clientId !== null) conditions.push(Prisma.sql`r.client_id = ${filter.clientId}`);
  if (filter.scope !== null) conditions.push(Prisma.sql`r.scope = ${filter.scope}`);
  return Prisma.join(conditions, ' AND ');
}

/** Filters by id, which starts with the time, so that other months' partitions are pruned. */
function between(from: Date | null, to: Date | null): Prisma.Sql {
  const conditions = [Prisma.sql`true`];
  if (from !== null) conditions.push(Prisma.sql`r.id >= first_id_of(${from}::timestamptz)`);
  if (to !== null) conditions.push(Prisma.sql`r.id < first_id_of(${to}::timestamptz)`);
  return Prisma.join(conditions, ' AND ');
}
