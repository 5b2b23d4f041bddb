import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import pg from 'pg';
import { type Harness, reading, reasonOf, startHarness, textOf } from './harness.ts';
import { daysOf, EVERYTHING, heart, noon } from './sync-asks.ts';

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
  await admin.query(
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
      await admin.query('DELETE FROM reading_change WHERE user_id = $1 AND number = 2', [userId]);
      expect(daysOf(await ask(userId, cursor))).toEqual([]);
      await harness.putReadings(userId, [glucose(12)]);
      expect(daysOf(await ask(userId, cursor))).toEqual([12]);
    }
    const cursor = await start('erased');
    await harness.ingestion.eraseUser({ userId: 'erased' });
    await harness.putReadings('erased', [glucose(13)]);
    expect(daysOf(await ask('erased', cursor))).toEqual([13]);
  });

  test('expires when something visible was lost, or when the window opens after something visible', async () => {
    const cursor = await start('visible', 11);
    expect(await reasonOf(ask('visible', cursor, null))).toBe('cursor_expired');
    await admin.query("DELETE FROM reading_change WHERE user_id = 'visible'");
    expect(await reasonOf(ask('visible', cursor))).toBe('cursor_expired');
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
