import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { letDaysPass } from '@phds/test-kit/passing-days';
import { openTestPool } from '@phds/test-kit/test-pool';
import { scanForNotices } from '../src/app/notice-scan.ts';
import { addReads, foundNotices, judge, type NoticeSearcher, openNoticeSearcher } from './notice-searcher.ts';
import {
  approve,
  type RegisteredApp,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;
let searcher: NoticeSearcher;
let other: NoticeSearcher;
let app: RegisteredApp;

beforeAll(async () => {
  // Only the test searches.
  consent = await startConsent({ settings: { NOTICE_SCAN_INTERVAL_MS: '86400000' } });
  searcher = await openNoticeSearcher(consent.database.url);
  other = await openNoticeSearcher(consent.database.url);
  app = await registerApp(consent);
});
afterAll(async () => {
  await searcher[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await consent[Symbol.asyncDispose]();
});

const kindsOf = async (userId: string) => (await foundNotices(consent, userId)).map(({ kind }) => kind.case);

/** A grant whose end is near. */
async function grantOf(userId: string): Promise<string> {
  const { grantId } = await approve(consent, app, userId);
  await letDaysPass(consent.database.adminUrl, grantId, 84);
  return grantId;
}

describe('the search', () => {
  test('by several instances at once makes one notice of each cause', async () => {
    const users = Array.from({ length: 12 }, (_, each) => `several-${each}`);
    for (const user of users) {
      const grantId = await grantOf(user);
      await addReads(consent, grantId, 0, { recorded: 500 });
    }
    await Promise.all([searcher, other, searcher, other].map((each) => each.search()));
    for (const user of users) {
      expect((await kindsOf(user)).toSorted()).toEqual(['connectionEnding', 'unusualReading']);
    }
  });

  test('goes on where it stopped after a crash, and keeps nothing of the part that was not finished', async () => {
    const users = ['crash-1', 'crash-2', 'crash-3'];
    for (const user of users) await grantOf(user);
    const looked: string[] = [];
    while (
      await searcher
        .scanNext(1, (scanned) => {
          looked.push(...scanned.ending.map(({ userId }) => userId));
          if (looked.includes('crash-2')) throw new Error('crashed');
          return judge(scanned);
        })
        .catch(() => false)
    );
    expect(await kindsOf('crash-1')).toEqual(['connectionEnding']);
    expect(await kindsOf('crash-2')).toEqual([]);
    looked.length = 0;
    // Another instance, which does not begin again.
    while (
      await other.scanNext(1, (scanned) => {
        looked.push(...scanned.ending.map(({ userId }) => userId));
        return judge(scanned);
      })
    );
    expect(looked).toEqual(['crash-2', 'crash-3']);
    for (const user of users) expect(await kindsOf(user)).toEqual(['connectionEnding']);
  });

  test('begins again only after its interval, whichever instance searches', async () => {
    await searcher.search();
    await grantOf('interval');
    await other.search(3_600_000);
    expect(await kindsOf('interval')).toEqual([]);
    await consent.owner.query(`UPDATE notice_scan SET started_at = now() - interval '1 hour'`);
    await other.search(3_600_000);
    expect(await kindsOf('interval')).toEqual(['connectionEnding']);
    await grantOf('set-back');
    await consent.owner.query(`UPDATE notice_scan SET started_at = now() + interval '1 day'`);
    await searcher.search(3_600_000);
    expect(await kindsOf('set-back')).toEqual(['connectionEnding']);
  });

  test('leaves no notice of a person who is erased meanwhile', async () => {
    const grantId = await grantOf('erased-meanwhile');
    const found = Promise.withResolvers<void>();
    const admin = openTestPool(consent.database.adminUrl, { max: 1 });
    const holder = await consent.owner.connect();
    try {
      // The erasure waits for this row, then the notice waits for the erasure.
      await holder.query('BEGIN');
      await holder.query('SELECT FROM consent_grant WHERE id = $1 FOR UPDATE', [grantId]);
      const erasing = consent.asOperator.eraseUser({ userId: 'erased-meanwhile' });
      const waiting = async (count: number) => {
        const { rows } = await admin.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        expect(rows).toHaveLength(count);
      };
      await eventually(() => waiting(1));
      const searching = searcher.scanNext(1_000, (scanned) => {
        found.resolve();
        return judge(scanned);
      });
      await found.promise;
      await eventually(() => waiting(2));
      await holder.query('ROLLBACK');
      await Promise.all([erasing, searching]);
    } finally {
      holder.release();
      await admin.end();
    }
    const { rows } = await consent.owner.query(`SELECT FROM notice WHERE user_id = 'erased-meanwhile'`);
    expect(rows).toEqual([]);
  });

  test.each([
    ['with the service', 3, 3],
    ['after 100,000 grants, and leaves the others to the next run', Number.POSITIVE_INFINITY, 100],
  ])('ends %s', async (_, abortedAt, expected) => {
    const ending = new AbortController();
    let parts = 0;
    const store = {
      scanNext: () => {
        parts += 1;
        if (parts === abortedAt) ending.abort();
        return Promise.resolve(parts < 1_000);
      },
    };
    await scanForNotices(store, 0, ending.signal);
    expect(parts).toBe(expected);
  });

  test('of the running service finds what a test would find', async () => {
    await grantOf('found-by-service');
    await consent.owner.query('UPDATE notice_scan SET started_at = NULL');
    await using _searching = await consent.startAnother({ NOTICE_SCAN_INTERVAL_MS: '20' });
    await eventually(async () => expect(await kindsOf('found-by-service')).toEqual(['connectionEnding']));
  });

  test('reads by indexes alone', async () => {
    const client = await consent.owner.connect();
    try {
      for (const way of ['seqscan', 'bitmapscan', 'sort']) await client.query(`SET enable_${way} = off`);
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT id FROM consent_grant WHERE (expires_at, id) > (now(), '') ORDER BY expires_at, id LIMIT 1000`,
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(
        /^Limit.*\n +-> +Index (Only )?Scan using consent_grant_expires_at_id_idx/,
      );
    } finally {
      client.release(true);
    }
  });
});
