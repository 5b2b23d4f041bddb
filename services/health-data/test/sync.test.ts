import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import pg from 'pg';
import { type Harness, reading, reasonOf, startHarness, textOf } from './harness.ts';
import { askChanges, daysOf, EVERYTHING, heart, noon, removeHeart } from './sync-asks.ts';

let harness: Harness;
let admin: pg.Client;
beforeAll(async () => {
  harness = await startHarness();
  admin = new pg.Client({ connectionString: harness.database.adminUrl });
  await admin.connect();
  await admin.query(`SET search_path TO ${harness.database.schema}`);
});
afterAll(async () => {
  await admin.end();
  await harness[Symbol.asyncDispose]();
});
beforeEach(() => harness.consent.forget());

const ask = (userId: string, asked?: Parameters<typeof askChanges>[2]) => askChanges(harness, userId, asked);
const remove = (userId: string, day: number) => removeHeart(harness, userId, day);

describe('changes', () => {
  test('have exactly the documented fields, the oldest change first, with deletions', async () => {
    await harness.putReadings('exact', [heart(2, 62), heart(1, 61)]);
    await remove('exact', 2);
    const { text } = await ask('exact');
    const id = 'rdg_[0-9a-f]{32}';
    const instant = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z';
    expect(text).toMatch(
      new RegExp(
        `^\\{"data":\\[\\{"id":"${id}","type":"Heart Rate","value":61,"unit":"/min","timestamp":"${noon(1)}",` +
          `"source":"apple-watch","updatedAt":"${instant}","deleted":false\\},` +
          `\\{"id":"${id}","type":"Heart Rate","timestamp":"${noon(2)}","updatedAt":"${instant}","deleted":true\\}\\],` +
          `"sync":\\{"cursor":"cur_[A-Za-z0-9_-]+","hasMore":false,"lastDataAt":"${instant}","timeZone":"UTC"\\}\\}$`,
      ),
    );
  });

  test('have the ids of the list', async () => {
    await harness.putReadings('same-ids', [heart(1)]);
    const request = { endpoint: Endpoint.HEALTH_DATA, category: 'heart' };
    const list = JSON.parse(textOf(await harness.reads.read(request, await harness.about('same-ids'))));
    expect((await ask('same-ids')).data[0].id).toBe(list.data[0].id);
  });

  test('after a cursor are those that came later, each reading once with its latest change', async () => {
    await harness.putReadings('later', [heart(1), heart(2), heart(3)]);
    const { sync } = await ask('later');
    expect(await ask('later', { since: sync.cursor })).toMatchObject({ data: [], sync: { hasMore: false } });
    await harness.putReadings('later', [heart(2, 70)]);
    await harness.putReadings('later', [heart(4), heart(2, 71)]);
    const { data } = await ask('later', { since: sync.cursor });
    expect(data).toMatchObject([
      { timestamp: noon(2), value: 71 },
      { timestamp: noon(4), value: 60 },
    ]);
    expect(data[0].updatedAt).toBe(data[1].updatedAt);
  });

  test('are read in pages that lose and repeat nothing when data changes in between', async () => {
    await harness.putReadings(
      'pages',
      [1, 2, 3, 4, 5].map((day) => heart(day)),
    );
    const first = await ask('pages', { pageSize: 2 });
    expect([daysOf(first), first.sync.hasMore]).toEqual([[1, 2], true]);
    await harness.putReadings('pages', [heart(1, 80), heart(3, 80), heart(6)]);
    await remove('pages', 4);
    const second = await ask('pages', { pageSize: 2, since: first.sync.cursor });
    expect([daysOf(second), second.sync.hasMore]).toEqual([[5, 1], true]);
    const third = await ask('pages', { pageSize: 3, since: second.sync.cursor });
    expect([daysOf(third), third.sync.hasMore]).toEqual([[3, 6, 4], false]);
    expect(third.data.at(-1)).toMatchObject({ deleted: true });
    expect(third.nextCursor).toBe(third.sync.cursor);
  });

  test('since an instant are those at or after it', async () => {
    await harness.putReadings('instants', [heart(1)]);
    await harness.putReadings('instants', [heart(2)]);
    const { data } = await ask('instants');
    const [{ updatedAt: early }, { updatedAt: late }] = data;
    expect(daysOf(await ask('instants', { since: early }))).toEqual([1, 2]);
    const after = new Date(Date.parse(late) + 1).toISOString();
    const nothing = await ask('instants', { since: after });
    expect(nothing).toMatchObject({ data: [], sync: { lastDataAt: late } });
    await harness.putReadings('instants', [heart(3)]);
    expect(daysOf(await ask('instants', { since: nothing.sync.cursor }))).toEqual([3]);
  });

  test('of one type are those alone, and of a person without data none', async () => {
    await harness.putReadings('types', [
      heart(1),
      reading('HRV', noon(2), 40),
      reading('Weight', noon(3), 80),
    ]);
    expect(daysOf(await ask('types', { type: 'HRV' }))).toEqual([2]);
    const nobody = await ask('nobody');
    expect(nobody).toMatchObject({ data: [], sync: { hasMore: false, lastDataAt: null, timeZone: 'UTC' } });
    await harness.putReadings('nobody', [heart(1)]);
    expect(daysOf(await ask('nobody', { since: nobody.sync.cursor }))).toEqual([1]);
  });

  test('of readings that begin at the same instant are told apart by page', async () => {
    const ends = [1, 2, 3].map((minute) =>
      reading('Heart Rate', noon(1), 60, { end: `2026-01-01T12:0${minute}:00Z` }),
    );
    await harness.putReadings('ties', [
      ...ends,
      reading('HRV', noon(1), 40),
      reading('Heart Rate', noon(1), 60, { source: 'iphone' }),
    ]);
    const ids: string[] = [];
    let since = EVERYTHING;
    for (let hasMore = true; hasMore; ) {
      const { data, sync } = await ask('ties', { since, pageSize: 1 });
      ids.push(...data.map(({ id }: { id: string }) => id));
      ({ cursor: since, hasMore } = sync);
    }
    expect(new Set(ids).size).toBe(5);
    expect(ids).toHaveLength(5);
  });

  test('of readings from before changes were numbered come first, without a known time', async () => {
    await harness.putReadings('old', [heart(1), heart(2)]);
    await admin.query("UPDATE reading SET change_number = 0 WHERE user_id = 'old'");
    await admin.query("DELETE FROM reading_change WHERE user_id = 'old'");
    const first = await ask('old', { pageSize: 1 });
    expect(first).toMatchObject({
      data: [{ timestamp: noon(1), updatedAt: '1970-01-01T00:00:00.000Z' }],
      sync: { hasMore: true, lastDataAt: null },
    });
    const second = await ask('old', { since: first.sync.cursor });
    expect([daysOf(second), second.sync.hasMore]).toEqual([[2], false]);
    expect(daysOf(await ask('old', { since: second.sync.cursor }))).toEqual([]);
    // From now on their number has a time.
    await harness.putReadings('old', [heart(3)]);
    expect(daysOf(await ask('old', { since: second.sync.cursor }))).toEqual([3]);
    expect(daysOf(await ask('old'))).toEqual([1, 2, 3]);
  });
});

describe('a data window', () => {
  test('hides changes and deletions before its first day, also from lastDataAt', async () => {
    const about = { dataFrom: '2026-01-10' };
    await harness.putReadings('hidden', [heart(9), heart(11)]);
    const { sync } = await ask('hidden', { about });
    await remove('hidden', 9);
    await harness.putReadings('hidden', [heart(8)]);
    expect(await ask('hidden', { about, since: sync.cursor })).toMatchObject({
      data: [],
      sync: { lastDataAt: sync.lastDataAt },
    });
    expect(daysOf(await ask('hidden', { about }))).toEqual([11]);
  });

  test('that begins earlier than at the cursor ends it; one that begins later does not', async () => {
    await harness.putReadings('window', [heart(5), heart(15)]);
    const { sync } = await ask('window', { about: { dataFrom: '2026-01-10' } });
    const since = sync.cursor;
    expect(await reasonOf(ask('window', { since }))).toBe('cursor_expired');
    expect(await reasonOf(ask('window', { since, about: { dataFrom: '2026-01-09' } }))).toBe(
      'cursor_expired',
    );
    await harness.putReadings('window', [heart(16)]);
    expect(daysOf(await ask('window', { since, about: { dataFrom: '2026-01-12' } }))).toEqual([16]);
  });

  test('follows the zone of the person, which the answer names', async () => {
    await harness.ingestion.putProfile({ userId: 'zone', timeZone: 'Pacific/Auckland' });
    await harness.putReadings('zone', [reading('Heart Rate', '2026-01-09T12:00:00Z', 60)]);
    const about = { dataFrom: '2026-01-10' };
    const { data, sync } = await ask('zone', { about });
    expect([data.length, sync.timeZone]).toEqual([1, 'Pacific/Auckland']);
    // Midnight of the zone becomes later, then earlier than at the cursor.
    await harness.ingestion.putProfile({ userId: 'zone', timeZone: 'Europe/Berlin' });
    const moved = await ask('zone', { about, since: sync.cursor });
    await harness.ingestion.putProfile({ userId: 'zone', timeZone: 'Pacific/Auckland' });
    expect(await reasonOf(ask('zone', { about, since: moved.sync.cursor }))).toBe('cursor_expired');
  });
});

test('each page is recorded before it is released, and withheld when the access is not alive', async () => {
  await harness.putReadings('judged', [heart(1), heart(2)]);
  harness.consent.forget();
  await ask('judged');
  expect(harness.consent.accesses).toMatchObject([
    { endpoint: '/api/v1/health-data/heart', scope: 'read:health-data:heart', recordCount: 2 },
  ]);
  harness.consent.judge = () => Verdict.GRANT_REVOKED;
  expect(await reasonOf(ask('judged'))).toBe('unauthorized');
});
