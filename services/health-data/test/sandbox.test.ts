import { Code } from '@connectrpc/connect';
import { describe, expect, test } from '@jest/globals';
import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { SandboxDataChange } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { createTurns } from '@phds/service-kit/batcher';
import { unavailable } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createPreparation, type SandboxParts } from '../src/sandbox.ts';
import { at, NOW, reading, reasonOf, shareHarness, startHarness } from './harness.ts';

const { ARRIVE, CORRECT, DELETE } = SandboxDataChange;
const CLIENT = 'app_1';

const harness = await shareHarness({ SANDBOX: 'true' });
const { owner } = harness;

const prepare = (userId: string) => harness.sandbox.preparePerson({ userId });
const change = (userId: string, kind: SandboxDataChange, categories = ['heart']) =>
  harness.sandbox.changeData({ userId, clientId: CLIENT, change: kind, categories });

interface Row {
  readonly type: string;
  readonly start_at: Date;
  readonly value: number;
}

async function readingsOf(userId: string): Promise<Row[]> {
  const { rows } = await owner.query<Row>(
    'SELECT type, start_at, value FROM reading WHERE user_id = $1 ORDER BY start_at DESC, type, end_at, source',
    [userId],
  );
  return rows;
}

async function countAll(userId: string): Promise<Record<string, number>> {
  const tables = ['reading', 'profile', 'condition', 'medication', 'appointment', 'report'];
  const counts = tables.map(async (table) => {
    const { rows } = await owner.query(`SELECT count(*)::int AS n FROM ${table} WHERE user_id = $1`, [
      userId,
    ]);
    return [table, rows[0].n as number] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

async function readHeart(userId: string) {
  const body = {
    endpoint: Endpoint.HEALTH_DATA,
    category: 'heart',
    parameters: { page: { page: 1, pageSize: 10 } },
  };
  const { body: answered } = await harness.reads.read(
    body,
    await harness.about(userId, { clientId: CLIENT }),
  );
  return JSON.parse(Buffer.from(answered).toString()).data;
}

describe('a person', () => {
  test('exists for every name, with data of every kind, a profile of that name and another life than others', async () => {
    const [one, other] = [newId('one'), newId('other')];
    await prepare(one);
    await prepare(other);
    const counts = { profile: 1, condition: 3, medication: 3, appointment: 4, report: 1 };
    expect(await countAll(one)).toMatchObject(counts);
    expect((await countAll(one))['reading']).toBeGreaterThan(8_000);
    expect(await readingsOf(one)).not.toEqual(await readingsOf(other));
    const { rows } = await owner.query('SELECT name FROM profile WHERE user_id = $1', [one]);
    expect(rows).toEqual([{ name: one }]);
  });

  test('sparse has a little and empty nothing', async () => {
    for (const userId of ['sparse', 'empty']) await prepare(userId);
    expect(await countAll('sparse')).toMatchObject({ reading: 5, profile: 1, condition: 1 });
    expect(Object.values(await countAll('empty'))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test('who has data of their own keeps it unchanged', async () => {
    const userId = newId('imported');
    await harness.ingestion.putProfile({ userId, name: 'Imported' });
    await prepare(userId);
    expect(await countAll(userId)).toMatchObject({ reading: 0, profile: 1 });
  });

  test('has the same data however often, concurrently and interruptedly it is made', async () => {
    const userId = newId('again');
    await prepare(userId);
    const [readings, records] = [await readingsOf(userId), await countAll(userId)];
    // As left by a process that ended before it had stored everything.
    await owner.query('DELETE FROM profile WHERE user_id = $1', [userId]);
    await owner.query("DELETE FROM reading WHERE user_id = $1 AND category = 'activity'", [userId]);
    await Promise.all([prepare(userId), prepare(userId), prepare(userId)]);
    expect(await readingsOf(userId)).toEqual(readings);
    expect(await countAll(userId)).toEqual(records);
  });
});

describe('a trigger', () => {
  test('lets a reading arrive, corrects it and deletes it, and says which one the app sees', async () => {
    const userId = newId('user');
    expect(await reasonOf(change(userId, CORRECT))).toBe('conflict');
    expect(await reasonOf(change(userId, DELETE))).toBe('conflict');
    const arrived = await change(userId, ARRIVE);
    const [newest] = await readHeart(userId);
    expect(arrived).toMatchObject({ category: 'heart', id: newest.id });
    expect(newest.timestamp).toBe(new Date(NOW).toISOString());
    expect(await change(userId, ARRIVE)).toMatchObject({ category: '', id: '' });
    expect(await change(userId, CORRECT, ['glucose', 'heart'])).toMatchObject({
      category: 'heart',
      id: newest.id,
    });
    expect((await readHeart(userId))[0]).toEqual({ ...newest, value: newest.value + 5 });
    expect(await change(userId, DELETE)).toMatchObject({ category: 'heart', id: newest.id });
    expect(await readHeart(userId)).toEqual([]);
  });

  test('names the reading that arrived, not another of the same time', async () => {
    const userId = newId('user');
    const others = Array.from({ length: 9 }, (_, n) =>
      reading('Heart Rate', NOW, 60, { source: `watch-${n}` }),
    );
    await harness.putReadings(userId, others);
    const { id } = await change(userId, ARRIVE);
    const shown = await readHeart(userId);
    expect(shown.find((each: { id: string }) => each.id === id).source).toBe('apple-watch');
  });

  test('arrives in every category with a value that is stored', async () => {
    const userId = newId('user');
    for (const category of CATEGORY_SLUGS) {
      expect(await change(userId, ARRIVE, [category])).toMatchObject({ category });
      expect(await change(userId, CORRECT, [category])).toMatchObject({ category });
    }
  });

  test('is refused with an unknown category, kind or app', async () => {
    expect(await reasonOf(change('user', ARRIVE, ['lungs']))).toBe('invalid_request');
    expect(await reasonOf(change('user', 0 as SandboxDataChange))).toBe('invalid_request');
    const request = { userId: 'user', clientId: '', change: ARRIVE };
    expect(await reasonOf(harness.sandbox.changeData(request))).toBe('invalid_request');
  });
});

test('without the mode, the service has none of its rpcs', async () => {
  await using production = await startHarness();
  const { sandbox } = production;
  const unserved = { cause: { code: Code.Unimplemented } };
  await expect(sandbox.preparePerson({ userId: 'user' })).rejects.toMatchObject(unserved);
  const request = { userId: 'user', clientId: CLIENT, change: ARRIVE, categories: ['heart'] };
  await expect(sandbox.changeData(request)).rejects.toMatchObject(unserved);
  const { rowCount } = await production.owner.query("SELECT FROM reading WHERE user_id = 'user'");
  expect(rowCount).toBe(0);
});

describe('the preparation of a person', () => {
  /** Preparations of people without data, which end when `finish` is called. At most two are made at once. */
  function start() {
    const begun: string[] = [];
    const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
    const ports: Partial<SandboxParts> = {
      clock: new FakeClock(),
      profiles: { find: async () => null, put: () => finished } as unknown as SandboxParts['profiles'],
      makeUp: (userId) => {
        begun.push(userId);
        return { profile: { name: userId }, readings: [], records: [] };
      },
    };
    const turns = createTurns({ atOnce: 2, perKey: 1 });
    return { ports, prepare: createPreparation(ports as SandboxParts, turns), begun, finish };
  }

  test('of one name happens once for parallel calls, and those of other names wait for their turn', async () => {
    const { prepare, begun, finish } = start();
    const made = ['a', 'a', 'b', 'c', 'a'].map((userId) => prepare(userId));
    finish();
    await Promise.all(made);
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  test('fails for all who wait for it, and a repeat begins again', async () => {
    const { ports, prepare, begun, finish } = start();
    const makeUp = ports.makeUp;
    Object.assign(ports, {
      makeUp() {
        throw unavailable();
      },
    });
    const refused = await Promise.allSettled([prepare('a'), prepare('a')]);
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    Object.assign(ports, { makeUp });
    finish();
    await prepare('a');
    expect(begun).toEqual(['a']);
  });

  test('makes steps of at most a thousand readings, between which other work has its turn', async () => {
    const { ports, prepare, finish } = start();
    const perTurn: number[] = [0];
    const count = () => void perTurn.push(0);
    const draft = {
      type: 'Heart Rate',
      start: at('2026-01-01T00:00:00Z'),
      value: 60,
      unit: '',
      source: 'manual',
    };
    const readings = (function* () {
      for (let made = 0; made < 3_000; made += 1) {
        if (made % 100 === 0) setImmediate(count);
        perTurn.push((perTurn.pop() ?? 0) + 1);
        yield draft;
      }
    })();
    const put = async () => ({ inserted: 0, updated: 0, unchanged: 0 });
    Object.assign(ports, {
      readingWriter: { put },
      makeUp: () => ({ profile: null, readings, records: [] }),
    });
    finish();
    await prepare('a');
    expect(Math.max(...perTurn)).toBe(1_000);
  });
});
