import { beforeEach, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createChangePruning, forgetChanges } from '../src/change-pruning.ts';
import { at, type Harness, reading, reasonOf, refusalOf, shareHarness, textOf } from './harness.ts';

const harness = await shareHarness();
beforeEach(() => harness.consent.forget());

const EVERYTHING = '1970-01-01T00:00:00Z';

interface Asked {
  readonly since?: string;
  readonly category?: string;
  readonly type?: string;
  readonly pageSize?: number;
  readonly about?: Parameters<Harness['about']>[1];
}

/** Asks for the changes of readings of a person; everything of the category heart by default. */
async function ask(userId: string, asked: Asked = {}) {
  const { since = EVERYTHING, category = 'heart', type = '', pageSize = 20, about } = asked;
  const parameters = { updatedSince: since, type, page: { page: 1, pageSize } };
  const request = { endpoint: Endpoint.HEALTH_DATA, category, parameters };
  const response = await harness.reads.read(request, await harness.about(userId, about));
  return { ...JSON.parse(textOf(response)), text: textOf(response), nextCursor: response.nextCursor };
}

const noon = (day: number) => `2026-01-${String(day).padStart(2, '0')}T12:00:00.000Z`;

/** A heart rate of a day in January. */
const heart = (day: number, value = 60) => reading('Heart Rate', noon(day), value);

/** Deletes the heart rate of a day. */
async function remove(userId: string, day: number): Promise<void> {
  const key = { type: 'Heart Rate', start: at(noon(day)), source: 'apple-watch' };
  expect(await harness.ingestion.deleteReadings({ userId, keys: [key] })).toMatchObject({ deleted: 1 });
}

/** The days of the changes, in order. */
const daysOf = ({ data }: { data: { timestamp: string }[] }) =>
  data.map(({ timestamp }) => Number(timestamp.slice(8, 10)));

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
});

describe('a data window', () => {
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

describe('a cursor expires', () => {
  test('when the person was erased, also if as much data has come again', async () => {
    await harness.putReadings('erased', [heart(1)]);
    const { sync } = await ask('erased');
    await harness.ingestion.eraseUser({ userId: 'erased' });
    expect(await reasonOf(ask('erased', { since: sync.cursor }))).toBe('cursor_expired');
    await harness.putReadings('erased', [heart(1)]);
    expect(await reasonOf(ask('erased', { since: sync.cursor }))).toBe('cursor_expired');
  });

  test('when a backup was restored that lacks its last change, also if other changes came since', async () => {
    await harness.putReadings('restored', [heart(1)]);
    await harness.putReadings('restored', [heart(2)]);
    const { sync } = await ask('restored');
    await harness.owner.query("DELETE FROM reading_change WHERE user_id = 'restored' AND number = 2");
    await harness.owner.query("DELETE FROM reading WHERE user_id = 'restored' AND change_number = 2");
    expect(await reasonOf(ask('restored', { since: sync.cursor }))).toBe('cursor_expired');
    await harness.putReadings('restored', [heart(3)]);
    // Its time is later than that of the lost one, which a fast machine could miss by less than a millisecond.
    await harness.owner.query(
      "UPDATE reading_change SET at = timezone('UTC', timezone('UTC', at) + interval '1 ms') WHERE user_id = 'restored' AND number = 2",
    );
    expect(await reasonOf(ask('restored', { since: sync.cursor }))).toBe('cursor_expired');
  });

  test('and this answer is recorded and judged like data', async () => {
    await harness.putReadings('recorded', [heart(1)]);
    const { sync } = await ask('recorded');
    await harness.ingestion.eraseUser({ userId: 'recorded' });
    harness.consent.forget();
    expect(await reasonOf(ask('recorded', { since: sync.cursor }))).toBe('cursor_expired');
    expect(harness.consent.accesses).toMatchObject([
      { endpoint: '/api/v1/health-data/heart', recordCount: 0 },
    ]);
    harness.consent.judge = () => Verdict.GRANT_REVOKED;
    expect(await reasonOf(ask('recorded', { since: sync.cursor }))).toBe('unauthorized');
  });
});

describe('a cursor is refused', () => {
  const REFUSED = 'updatedSince: is not a cursor that this list has given to this app for this person';

  test('by another category, type, person or app, and when it was changed', async () => {
    await harness.putReadings('bound', [heart(1), reading('Steps', noon(1), 5)]);
    const since = (await ask('bound')).sync.cursor as string;
    const changed = `${since.slice(0, 30)}${since[30] === 'A' ? 'B' : 'A'}${since.slice(31)}`;
    for (const refused of [
      () => ask('bound', { since, category: 'activity' }),
      () => ask('bound', { since, type: 'HRV' }),
      () => ask('other', { since }),
      () => ask('bound', { since, about: { clientId: 'app_other' } }),
      () => ask('bound', { since: changed }),
      () => ask('bound', { since: 'cur_' }),
      () => ask('bound', { since: `cur_${'A'.repeat(80)}` }),
      () => ask('bound', { since: 'yesterday' }),
    ]) {
      expect((await refusalOf(refused())).message).toBe(REFUSED);
    }
  });

  test('together with from or to, and by endpoints without changes', async () => {
    const about = await harness.about('bound');
    const parameters = { updatedSince: EVERYTHING, from: '2026-01-01' };
    const both = harness.reads.read({ endpoint: Endpoint.HEALTH_DATA, category: 'heart', parameters }, about);
    expect((await refusalOf(both)).message).toBe('updatedSince: excludes from and to');
    const elsewhere = harness.reads.read(
      { endpoint: Endpoint.MOOD, parameters: { updatedSince: EVERYTHING } },
      about,
    );
    expect((await refusalOf(elsewhere)).violations).toMatchObject([{ parameter: 'updatedSince' }]);
  });
});

describe('changes that an app may not see', () => {
  const DATA_FROM = '2026-01-10';
  const glucose = (day: number) => reading('Glucose', noon(day), 5.5, { unit: 'mmol/L' });

  /** What an app sees that may read glucose since a day. */
  async function ask(userId: string, since: string = EVERYTHING, dataFrom: string | null = DATA_FROM) {
    const request = {
      endpoint: Endpoint.HEALTH_DATA,
      category: 'glucose',
      parameters: { updatedSince: since },
    };
    const response = await harness.reads.read(request, await harness.about(userId, { dataFrom }));
    return { ...JSON.parse(textOf(response)), etag: response.etag };
  }

  /** An answer without its cursor, which no app can read. */
  const seenOf = ({ sync: { cursor, ...sync }, ...answer }: Awaited<ReturnType<typeof ask>>) => {
    return { ...answer, sync, length: cursor.length };
  };

  const hide = {
    'of another category': (userId: string) =>
      harness.putReadings(userId, [heart(15, Math.random() * 50 + 50)]),
    'before the data window': (userId: string) =>
      harness.putReadings(userId, [glucose(1 + Math.floor(Math.random() * 8))]),
    'before the data window, that deletes': async (userId: string) => {
      await harness.putReadings(userId, [glucose(5)]);
      await harness.ingestion.deleteReadings({
        userId,
        windows: [{ type: 'Glucose', to: at('2026-01-09T00:00:00Z') }],
      });
    },
  };

  test.each(Object.entries(hide))(
    'a change %s changes nothing in an answer, also none of a later cursor',
    async (kind, change) => {
      await harness.putReadings(kind, [glucose(11), glucose(12)]);
      const first = await ask(kind);
      await change(kind);
      const [again, later] = [await ask(kind), await ask(kind, first.sync.cursor)];
      expect(seenOf(again)).toEqual(seenOf(first));
      await change(kind);
      const [last, beside] = [await ask(kind, later.sync.cursor), await ask(kind, first.sync.cursor)];
      expect([seenOf(last), seenOf(beside)]).toEqual([seenOf(later), seenOf(later)]);
      expect(daysOf(last)).toEqual([]);
      await harness.putReadings(kind, [glucose(13)]);
      expect(daysOf(await ask(kind, last.sync.cursor))).toEqual([13]);
    },
  );

  test('every cursor is another text of the same length, also for the same place', async () => {
    const empty = await ask('nonce');
    await harness.putReadings('nonce', [{ ...glucose(11), source: 'a'.repeat(40) }, glucose(12)]);
    const cursors = [empty, await ask('nonce'), await ask('nonce')].map(({ sync }) => sync.cursor as string);
    expect(new Set(cursors).size).toBe(3);
    expect(new Set(cursors.map(({ length }) => length)).size).toBe(1);
    // What gateways accept.
    expect(cursors[0]).toMatch(/^cur_[A-Za-z0-9_-]{22,400}$/);
  });

  test('more hidden changes than a page searches give no empty page with more behind it', async () => {
    await harness.putReadings('many', [glucose(1)]);
    await harness.owner.query(
      `INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source, change_number)
     SELECT 'many', gen_random_uuid(), type, category, at, at, 5, 'iphone', 1
     FROM reading, generate_series(1, 25000) AS n, LATERAL (SELECT start_at - n * interval '1 minute' AS at) AS t WHERE user_id = 'many'`,
    );
    await harness.putReadings('many', [glucose(11)]);
    const page = await ask('many');
    expect([daysOf(page), page.sync.hasMore]).toEqual([[11], false]);
  });

  describe('a cursor behind hidden changes', () => {
    const start = async (userId: string, ...visible: number[]) => {
      await harness.putReadings(userId, [heart(15), ...visible.map(glucose)]);
      await harness.putReadings(userId, [heart(16)]);
      return (await ask(userId)).sync.cursor as string;
    };

    test('goes on when only these were lost or erased, and sees what is new', async () => {
      for (const visible of [[], [11]]) {
        const userId = `lost ${visible.length}`;
        const cursor = await start(userId, ...visible);
        await harness.owner.query('DELETE FROM reading_change WHERE user_id = $1 AND number = 2', [userId]);
        expect(daysOf(await ask(userId, cursor))).toEqual([]);
        await harness.putReadings(userId, [glucose(12)]);
        expect(daysOf(await ask(userId, cursor))).toEqual([12]);
      }
      const cursor = await start('erased-unseen');
      await harness.ingestion.eraseUser({ userId: 'erased-unseen' });
      await harness.putReadings('erased-unseen', [glucose(13)]);
      expect(daysOf(await ask('erased-unseen', cursor))).toEqual([13]);
    });

    test('expires when something visible was lost, or when the window opens after something visible', async () => {
      const cursor = await start('visible-lost', 11);
      expect(await reasonOf(ask('visible-lost', cursor, null))).toBe('cursor_expired');
      await harness.owner.query("DELETE FROM reading_change WHERE user_id = 'visible-lost'");
      expect(await reasonOf(ask('visible-lost', cursor))).toBe('cursor_expired');
    });

    test('shows what an earlier window opens when nothing was visible before', async () => {
      const cursor = await start('opened', 5);
      expect(daysOf(await ask('opened', cursor, null))).toEqual([5]);
    });
  });

  test('a cursor expires by its age, whatever has changed, and old times are not told', async () => {
    const cursors: string[] = [];
    for (const userId of ['quiet', 'busy']) {
      await harness.putReadings(userId, [glucose(11)]);
      cursors.push((await ask(userId)).sync.cursor);
    }
    await harness.putReadings('busy', [heart(11)]);
    const { clock } = harness;
    const now = clock.now();
    clock.set(new Date(now.getTime() + 400 * 86_400_000));
    const answers = await Promise.all([ask('quiet', cursors[0]), ask('busy', cursors[1])]);
    expect(answers.map(daysOf)).toEqual([[], []]);
    clock.set(new Date(now.getTime() + 400 * 86_400_000 + 1));
    for (const [index, userId] of ['quiet', 'busy'].entries())
      expect(await reasonOf(ask(userId, cursors[index]))).toBe('cursor_expired');
    clock.set(new Date(Date.now() + 401 * 86_400_000));
    expect(await ask('quiet')).toMatchObject({
      data: [{ updatedAt: '1970-01-01T00:00:00.000Z' }],
      sync: { lastDataAt: null },
    });
    clock.set(now);
  });
});

describe('the forgetting of old changes', () => {
  /** Five readings, one in each change; the first three changes are from a year before. */
  async function store(userId: string): Promise<void> {
    for (const day of [1, 2, 3, 4, 5]) await harness.putReadings(userId, [heart(day)]);
    await harness.owner.query(
      `UPDATE reading_change SET reported = true,
         at = timezone('UTC', timezone('UTC', at) - interval '1 year' * (number < 4)::int) WHERE user_id = $1`,
      [userId],
    );
  }

  /** Forgets what is older than half a year, one change at a time. */
  async function prune(): Promise<number> {
    const pruning = createChangePruning(harness.owner, harness.database);
    const before = new Date(Date.now() - 183 * 86_400_000);
    let steps = 0;
    for (let after: string | null = ''; after !== null; steps += 1)
      after = await pruning.prune(after, before, 1);
    return steps;
  }

  const numbersOf = async (userId: string) => {
    const { rows } = await harness.owner.query(
      'SELECT number::int FROM reading_change WHERE user_id = $1 ORDER BY 1',
      [userId],
    );
    return rows.map(({ number }) => number);
  };

  test('old changes are forgotten in steps, except the latest of each person and unreported ones', async () => {
    for (const userId of ['person-1', 'person-2', 'waiting', 'still']) await store(userId);
    harness.consent.refusesChanges = true;
    await harness.owner.query(
      "UPDATE reading_change SET reported = false WHERE user_id = 'waiting' AND number = 2",
    );
    await harness.owner.query("DELETE FROM reading_change WHERE user_id = 'still' AND number > 3");
    const [steps, again] = [await prune(), await prune()];
    harness.consent.refusesChanges = false;
    expect(await Promise.all(['person-1', 'person-2', 'waiting', 'still'].map(numbersOf))).toEqual([
      [3, 4, 5],
      [3, 4, 5],
      [2, 3, 4, 5],
      [3],
    ]);
    // Two of each person, one of the one who waits, and the end.
    if (!harness.database.distributed) expect([steps - again, again]).toEqual([7, 2]);
  });

  test('after a failure it goes on in the next round, and begins again a day after its end', async () => {
    const clock = new FakeClock();
    const answers = ['ada', undefined, null, null];
    const begun: string[] = [];
    const prune = async (after: string) => {
      begun.push(after);
      const last = answers.shift();
      if (last === undefined) throw new Error('lost');
      return last;
    };
    const forget = forgetChanges({ prune }, 400, clock);
    expect(await forget(10)).toBe(10);
    await expect(forget(10)).rejects.toThrow('lost');
    for (const hours of [1, 1, 23]) {
      clock.advance(hours * 3_600_000);
      expect(await forget(10)).toBe(0);
    }
    expect(begun).toEqual(['', 'ada', 'ada', '']);
  });

  test('a reader who is in the middle or at the end goes on, and one who begins gets everything', async () => {
    await store('reader');
    const middle = await ask('reader', { pageSize: 1 });
    const end = await ask('reader');
    await prune();
    const next = await ask('reader', { pageSize: 1, since: middle.sync.cursor });
    expect(daysOf(next)).toEqual([2]);
    expect(daysOf(await ask('reader', { since: next.sync.cursor }))).toEqual([3, 4, 5]);
    expect(daysOf(await ask('reader', { since: end.sync.cursor }))).toEqual([]);
    const { data, sync } = await ask('reader');
    expect([data.length, data[0].updatedAt, sync.lastDataAt]).toEqual([
      5,
      '1970-01-01T00:00:00.000Z',
      end.sync.lastDataAt,
    ]);
  });
});
