import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { NoticeFeedStore } from '../app/notice-ports.ts';
import { type NoticeRow, toNotice } from './notice-rows.ts';

/** Notices that get their numbers at once; more than a reader gets at once. */
const NUMBERED_AT_ONCE = 1_000;

/** How far ahead of a database that lost the last numbering a reader's cursor is accepted, in microseconds: ten minutes. */
const MAX_LOST = 600_000_000;

/**
 * The feed in table `notice`. A notice gets its number when it is committed and somebody reads, under a lock that is held until the
 * numbers are committed. So whoever sees a number sees all smaller ones, whatever the order of the commits was.
 */
export function createPgNoticeFeed(pool: pg.Pool): NoticeFeedStore {
  return translatingErrors({
    list: (after, limit) =>
      transact(pool, async (tx) => {
        const { last, now } = await lockFeed(tx);
        if (after > Math.max(last, now) + MAX_LOST) return null;
        // The database has lost the numbering that gave this cursor. Later numbers have to be above it, whoever reads first.
        if (after > last) await keepLast(tx, after);
        await numberNotices(tx, Math.max(last, now, after));
        const rows = await select<NoticeRow>(tx)`
          SELECT id, number::double precision AS number, at, user_id AS "userId", content FROM notice
          WHERE number > ${BigInt(after)} ORDER BY number LIMIT ${limit}`;
        return rows.map(toNotice);
      }),
  });
}

interface LockedFeed {
  readonly last: number;
  /** Microseconds since 1970. */
  readonly now: number;
}

async function lockFeed(tx: pg.ClientBase): Promise<LockedFeed> {
  const [feed] = await select<LockedFeed>(tx)`
    SELECT last_number::double precision AS last, floor(extract(epoch FROM clock_timestamp()) * 1e6)::double precision AS now
    FROM notice_feed FOR UPDATE`;
  if (feed === undefined) throw new Error('the row of notice_feed is missing');
  return feed;
}

/**
 * Numbers continue above the present time, so that those of a restored database are above all that were given before the restore,
 * which the database does not know.
 */
async function numberNotices(tx: pg.ClientBase, above: number): Promise<void> {
  const numbered = await execute(tx)`
    UPDATE notice n SET number = ${BigInt(above)} + u.ordinal
    FROM (
      SELECT id, row_number() OVER (ORDER BY at, id) AS ordinal
      FROM (SELECT id, at FROM notice WHERE number IS NULL ORDER BY at, id LIMIT ${NUMBERED_AT_ONCE}
        FOR UPDATE SKIP LOCKED) locked
    ) u
    WHERE n.id = u.id`;
  if (numbered > 0) await keepLast(tx, above + numbered);
}

async function keepLast(tx: pg.ClientBase, number: number): Promise<void> {
  await execute(tx)`UPDATE notice_feed SET last_number = ${BigInt(number)}`;
}
