import type { Message } from '@bufbuild/protobuf';
import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import type { AccessDay as AccessDayMessage, AccessRecord } from '@phds/contracts/phds/consent/v1/access_pb';
import { createTurns, type Turns } from '@phds/service-kit/batcher';
import type { Clock } from '@phds/service-kit/clock';
import { notFound } from '@phds/service-kit/errors';
import { toHalf } from '@phds/service-kit/postgres/postgres';
import { queryCount, queryRows, readStatement } from '@phds/service-kit/postgres/sql';
import type { Row } from '@phds/service-kit/rpc/messages';
import type pg from 'pg';
import { type DayRange, type LocalDays, latestDays, toLocalDays } from './local-days.ts';

const FIND = readStatement(new URL('../store/sql/find-history.sql', import.meta.url));
const LIST = readStatement(new URL('../store/sql/list-accesses.sql', import.meta.url));
const COUNT = readStatement(new URL('../store/sql/count-history.sql', import.meta.url));
const LIST_DAYS = readStatement(new URL('../store/sql/list-access-days.sql', import.meta.url));
const LIST_REFUSED_READS = readStatement(new URL('../store/sql/list-refused-reads.sql', import.meta.url));
const LIST_APP_NAMES = readStatement(new URL('../store/sql/list-app-names.sql', import.meta.url));

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
        const values = await findValues(pool, userId, filter);
        const [items, total] = await Promise.all([
          listEntries(pool, values, filter, null, page),
          countEntries(pool, values, filter),
        ]);
        return { items, total };
      }),
    /** One piece for an export, older than the record with that UUID; empty at the end. */
    exportPiece: (userId: string, filter: AccessFilter, afterUuid: string | null): Promise<AccessEntry[]> =>
      turns(userId, async () => {
        const values = await findValues(pool, userId, filter);
        return listEntries(pool, values, filter, afterUuid, { page: 1, pageSize: EXPORT_PIECE });
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
        const values = await findValues(pool, userId, filter);
        const local = toLocal(range, clock.now(), timeZone);
        const { from, to, starts } = local;
        const days = await queryRows<CountedDay>(pool, LIST_DAYS, ...values, from, to, starts);
        const attempts = await selectAttempts(pool, userId, filter, local);
        return addNames(pool, userId, filter, addAttempts(days, attempts));
      }),
  };
}

function toLocal(range: DayRange | null, now: Date, timeZone: string): LocalDays {
  return range === null ? latestDays(USUAL_DAYS, now, timeZone) : toLocalDays(range.from, range.to, timeZone);
}

/** The values of `parts/access-filter.sql`. Throws `not_found` when the filter names a grant of another user. */
async function findValues(
  pool: pg.Pool,
  userId: string,
  { grantId, clientId, scope }: DayFilter,
): Promise<(string | null)[]> {
  const [known] = await queryRows<{ userRef: string | null; isForeign: boolean }>(
    pool,
    FIND,
    userId,
    grantId,
  );
  if (known === undefined || known.isForeign) throw notFound();
  return [known.userRef, grantId, clientId, scope];
}

function listEntries(
  pool: pg.Pool,
  values: readonly (string | null)[],
  { from, to }: AccessFilter,
  afterUuid: string | null,
  page: Page,
): Promise<AccessEntry[]> {
  return queryRows(pool, LIST, ...values, from, to, afterUuid, page.pageSize, offsetOf(page));
}

type Attempts = Pick<UnnamedDay, 'date' | 'clientId' | 'attempts'>;

/** Attempts are known by UTC day, and not by scope. */
async function selectAttempts(
  pool: pg.Pool,
  userId: string,
  { grantId, clientId, scope }: DayFilter,
  { from, to }: DayRange,
): Promise<Attempts[]> {
  if (scope !== null) return [];
  return queryRows<Attempts>(pool, LIST_REFUSED_READS, userId, grantId, clientId, from, to);
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

interface AppNames {
  readonly clientId: string;
  readonly shown: string | null;
  readonly current: string | null;
}

/** An app has one name for all of its days: as shown by the latest approval of the filtered grant, else of the person's latest grant. */
async function addNames(
  pool: pg.Pool,
  userId: string,
  { grantId }: DayFilter,
  days: readonly UnnamedDay[],
): Promise<AccessDay[]> {
  if (days.length === 0) return [];
  const apps = [...new Set(days.map(({ clientId }) => clientId))];
  const names = await queryRows<AppNames>(pool, LIST_APP_NAMES, userId, grantId, apps);
  const byApp = new Map(names.map((name) => [name.clientId, name]));
  return days.map((day) => {
    const current = byApp.get(day.clientId)?.current ?? '';
    return { ...day, appName: byApp.get(day.clientId)?.shown ?? current, currentAppName: current };
  });
}

/** Uses the daily counts for whole days, and the records for the at most two days that the filter cuts. */
function countEntries(
  pool: pg.Pool,
  values: readonly (string | null)[],
  { from, to }: AccessFilter,
): Promise<number> {
  const firstDay = from === null ? null : new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS);
  const endDay = to === null ? null : new Date(Math.floor(to.getTime() / DAY_MS) * DAY_MS);
  const isWithinDay = firstDay !== null && endDay !== null && firstDay > endDay;
  const parts = isWithinDay
    ? [null, null, from, to, null, null]
    : [toDay(firstDay, '-infinity'), toDay(endDay, 'infinity'), from, firstDay, endDay, to];
  return queryCount(pool, COUNT, ...values, ...parts);
}

function toDay(day: Date | null, unbounded: string): string {
  if (day === null) return unbounded;
  // Beyond the last day with a four-digit year.
  return day.getUTCFullYear() > 9999 ? 'infinity' : day.toISOString().slice(0, 10);
}
