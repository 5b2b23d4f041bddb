import { createLogger } from '@phds/service-kit/telemetry/log';
import type { ScannedGrants } from '../src/app/notice-ports.ts';
import { scanForNotices } from '../src/app/notice-scan.ts';
import type { NewNotice } from '../src/domain/notice.ts';
import { toEndingNotice, toUnusualNotice } from '../src/domain/scanned-grant.ts';
import { openConnectionPools } from '../src/store/connection-pools.ts';
import { createPgNoticeScan } from '../src/store/pg-notice-scan.ts';
import type { RunningService } from './running-service.ts';

/** The search for coming ends and unusual reading, run by a test in place of the service. */
export interface NoticeSearcher extends AsyncDisposable {
  /** Searches all grants once, unless a search began less than this long ago. */
  search(intervalMs?: number): Promise<void>;
  /** Checks the next grants. `judge` can fail in place of the service. */
  scanNext(size: number, judge?: Judge): Promise<boolean>;
}

type Judge = (scanned: ScannedGrants) => readonly NewNotice[];

/** What the service finds. */
export const judge: Judge = ({ now, ending, heavyDays }) =>
  [
    ...ending.map((grant) => toEndingNotice(grant, now)),
    ...heavyDays.map((heavy) => toUnusualNotice(heavy, now)),
  ].filter((notice) => notice !== null);

/** Opens connections of its own, like another instance of the service. */
export async function openNoticeSearcher(databaseUrl: string): Promise<NoticeSearcher> {
  const options = {
    DATABASE_URL: databaseUrl,
    DATABASE_CONNECT_TIMEOUT_MS: 20_000,
    DATABASE_STATEMENT_TIMEOUT_MS: 20_000,
    DATABASE_POOL_SIZE: 2,
    ACCESS_POOL_SIZE: 1,
    REVOCATION_POOL_SIZE: 1,
  };
  const pools = await openConnectionPools(options, createLogger({ service: 'test', level: 'silent' }));
  const store = createPgNoticeScan(pools.ordinary);
  return {
    search: (intervalMs = 0) => scanForNotices(store, intervalMs, new AbortController().signal),
    scanNext: (size, judging = judge) => store.scanNext({ intervalMs: 0, size }, judging),
    [Symbol.asyncDispose]: () => pools[Symbol.asyncDispose](),
  };
}

// The day of a grant's start and its age in whole days: the same day as long as a test runs, also when midnight passes.
const TODAY = `((granted_at AT TIME ZONE 'UTC')::date + round(extract(epoch FROM now() - granted_at) / 86400)::int)`;

/** Today for a grant that is whole days old, in UTC. */
export async function todayOf({ owner }: Pick<RunningService, 'owner'>, grantId: string): Promise<string> {
  const { rows } = await owner.query(`SELECT ${TODAY}::text AS today FROM consent_grant WHERE id = $1`, [
    grantId,
  ]);
  return rows[0].today;
}

/** Adds counted reads of a grant to the UTC day so many days ago, `refused` of them refused. */
export async function addReads(
  { owner }: Pick<RunningService, 'owner'>,
  grantId: string,
  daysAgo: number,
  reads: { readonly recorded: number; readonly refused?: number; readonly endpoint?: string },
): Promise<void> {
  await owner.query(
    `INSERT INTO access_day AS c (user_ref, grant_id, client_id, scope, endpoint, day, recorded, refused, last_at)
     SELECT user_ref, id, client_id, 'read:health-data:heart', $5, ${TODAY} - $2::int, $3, $4, now()
     FROM consent_grant WHERE id = $1
     ON CONFLICT (user_ref, grant_id, day, client_id, scope, endpoint)
       DO UPDATE SET recorded = c.recorded + excluded.recorded, refused = c.refused + excluded.refused`,
    [grantId, daysAgo, reads.recorded, reads.refused ?? 0, reads.endpoint ?? '/api/v1/health-data/heart'],
  );
}

const FOUND = ['connectionEnding', 'unusualReading'];

/** The notices about that person that a search made, oldest first. */
export async function foundNotices({ notices }: Pick<RunningService, 'notices'>, userId: string) {
  const feed = await notices.listNotices({ limit: 500 });
  return feed.notices.filter((notice) => notice.userId === userId && FOUND.includes(notice.kind.case ?? ''));
}
