import { describe, expect, test } from '@jest/globals';
import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import { SANDBOX_PEOPLE } from '@phds/catalog/sandbox';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { SandboxDataChange } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { unavailable } from '@phds/service-kit/errors';
import { FairTurns } from '@phds/service-kit/fair-turns';
import { newId } from '@phds/service-kit/ids';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { type SandboxPorts, sharePreparations } from '../src/app/sandbox-people.ts';
import { NOW, reasonOf, shareHarness, startHarness } from './harness.ts';

const { ARRIVE, CORRECT, DELETE } = SandboxDataChange;
const DAY_MS = 86_400_000;

const harness = await shareHarness({ SANDBOX_ARRIVAL_INTERVAL_MS: '10' });
const { owner } = harness;

const newApp = () => newId('app_sandbox');
const idOf = (clientId: string, person: string) => `sandbox:${clientId}:${person}`;
const prepare = (userId: string) => harness.sandbox.prepareSandboxPerson({ userId });
const change = async (userId: string, kind: SandboxDataChange, categories = ['heart']) =>
  (await harness.sandbox.changeSandboxData({ userId, change: kind, categories })).changed;

interface Row {
  readonly type: string;
  readonly start_at: Date;
  readonly value: number;
}

async function readingsOf(userId: string, category = '%'): Promise<Row[]> {
  const { rows } = await owner.query<Row>(
    `SELECT type, start_at, value FROM reading WHERE user_id = $1 AND category LIKE $2
     ORDER BY start_at DESC, type, end_at, source`,
    [userId, category],
  );
  return rows;
}

async function countAll(userId: string): Promise<Record<string, number>> {
  const tables = [
    'reading',
    'profile',
    'condition',
    'medication',
    'adherence_entry',
    'appointment',
    'report',
  ];
  const counts = tables.map(async (table) => {
    const { rows } = await owner.query(`SELECT count(*)::int AS n FROM ${table} WHERE user_id = $1`, [
      userId,
    ]);
    return [table, rows[0].n as number] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

describe('the people', () => {
  test('ada has a long history, ben a little, cleo nothing and dora a week', async () => {
    const app = newApp();
    const [ada = '', ben = '', cleo = '', dora = ''] = ['ada', 'ben', 'cleo', 'dora'].map((each) =>
      idOf(app, each),
    );
    for (const userId of [ada, ben, cleo, dora]) await prepare(userId);
    expect((await countAll(ada))['reading']).toBeGreaterThan(8_000);
    expect(await countAll(ada)).toMatchObject({
      profile: 1,
      condition: 3,
      medication: 3,
      appointment: 4,
      report: 1,
    });
    expect(await countAll(ben)).toMatchObject({ reading: 5, profile: 1, condition: 1 });
    expect(Object.values(await countAll(cleo))).toEqual([0, 0, 0, 0, 0, 0, 0]);
    const week = (await countAll(dora))['reading'] ?? 0;
    expect(week).toBeGreaterThan(1_000);
    expect(week).toBeLessThan(3_000);
    const body = {
      endpoint: Endpoint.HEALTH_DATA,
      category: 'heart',
      parameters: { page: { page: 1, pageSize: 1 } },
    };
    const read = await harness.reads.read(body, await harness.about(ada, { clientId: app }));
    expect(read.total).toBeGreaterThan(3_000);
  });

  test('live other lives in another app', async () => {
    const [one, other] = [idOf(newApp(), 'dora'), idOf(newApp(), 'dora')];
    await prepare(one);
    await prepare(other);
    expect(await readingsOf(one)).not.toEqual(await readingsOf(other));
  });

  test('have the same data however often, concurrently and interruptedly they are made', async () => {
    const userId = idOf(newApp(), 'dora');
    const once = async () => {
      await prepare(userId);
      // Without heart rates, of which another may arrive by itself meanwhile.
      const { reading: _, ...records } = await countAll(userId);
      return { readings: await readingsOf(userId, 'activity'), records };
    };
    const first = await once();
    expect(await once()).toEqual(first);
    // As left by a process that ended before it had stored everything.
    await owner.query('UPDATE sandbox_person SET made_until = NULL WHERE user_id = $1', [userId]);
    await owner.query("DELETE FROM reading WHERE user_id = $1 AND category = 'activity'", [userId]);
    await owner.query('DELETE FROM adherence_entry WHERE user_id = $1', [userId]);
    await Promise.all([prepare(userId), prepare(userId), prepare(userId)]);
    expect(await once()).toEqual(first);
  });

  test('measure on: two days later, the days between are added and nothing changes', async () => {
    await using later = await startHarness();
    const stored = async (userId: string) =>
      (
        await later.owner.query<{ id: string; value: number; start_at: Date }>(
          'SELECT id, value, start_at FROM reading WHERE user_id = $1 ORDER BY id',
          [userId],
        )
      ).rows;
    const app = newApp();
    const [dora, ben] = [idOf(app, 'dora'), idOf(app, 'ben')];
    for (const userId of [dora, ben]) await later.sandbox.prepareSandboxPerson({ userId });
    const [before, few] = [await stored(dora), await stored(ben)];
    later.clock.advance(2 * DAY_MS);
    for (const userId of [dora, ben]) await later.sandbox.prepareSandboxPerson({ userId });
    const after = await stored(dora);
    const known = new Set(before.map(({ id }) => id));
    expect(after.filter(({ id }) => known.has(id))).toEqual(before);
    const added = after.filter(({ id }) => !known.has(id));
    expect(added.length).toBeGreaterThan(200);
    expect(added.every(({ start_at }) => start_at.getTime() > Date.parse(NOW) - DAY_MS)).toBe(true);
    expect(await stored(ben)).toEqual(few);
  });

  test.each(['ada', 'sandbox:ada', 'sandbox:app_1:ada', 'sandbox:app_sandbox_1:grace', ''])(
    'are nobody else: %s is refused',
    async (userId) => {
      expect(await reasonOf(prepare(userId))).toBe('invalid_request');
      expect(await reasonOf(change(userId, ARRIVE))).toBe('invalid_request');
      expect((await owner.query('SELECT FROM sandbox_person WHERE user_id = $1', [userId])).rowCount).toBe(0);
    },
  );

  test('cannot be stored for somebody else, even by hand', async () => {
    const insert = "INSERT INTO sandbox_person (user_id, begun_at, used_at) VALUES ('ada', now(), now())";
    await expect(owner.query(insert)).rejects.toMatchObject({ code: '23514' });
  });
});

describe('a trigger', () => {
  test('lets a reading arrive, corrects it and deletes it', async () => {
    const userId = idOf(newApp(), 'cleo');
    await prepare(userId);
    expect(await reasonOf(change(userId, CORRECT))).toBe('conflict');
    expect(await reasonOf(change(userId, DELETE))).toBe('conflict');
    expect(await change(userId, ARRIVE, ['glucose', 'heart'])).toBe(true);
    expect(await change(userId, ARRIVE, ['glucose', 'heart'])).toBe(false);
    const [arrived] = await readingsOf(userId);
    expect(arrived).toMatchObject({ type: 'glucose', start_at: new Date(NOW) });
    expect(await change(userId, CORRECT, ['heart', 'glucose'])).toBe(true);
    const [corrected] = await readingsOf(userId);
    expect(corrected).toEqual({ ...arrived, value: (arrived?.value ?? 0) + 0.5 });
    expect(await change(userId, DELETE, ['glucose'])).toBe(true);
    expect(await readingsOf(userId)).toEqual([]);
  });

  test('arrives in every category with a value that is stored', async () => {
    const userId = idOf(newApp(), 'cleo');
    await prepare(userId);
    for (const category of CATEGORY_SLUGS) {
      expect(await change(userId, ARRIVE, [category])).toBe(true);
      expect(await change(userId, CORRECT, [category])).toBe(true);
    }
  });

  test('is refused for an unknown person, after 20,000 changes, and with an unknown category or kind', async () => {
    const userId = idOf(newApp(), 'cleo');
    expect(await reasonOf(change(userId, ARRIVE))).toBe('conflict');
    await prepare(userId);
    expect(await reasonOf(change(userId, ARRIVE, ['lungs']))).toBe('invalid_request');
    expect(await reasonOf(change(userId, 0 as SandboxDataChange))).toBe('invalid_request');
    await owner.query('UPDATE sandbox_person SET changes = 20000 WHERE user_id = $1', [userId]);
    expect(await reasonOf(change(userId, ARRIVE))).toBe('conflict');
  });
});

test("erasing the people of an app removes everything of that app's people and nothing of another's", async () => {
  const [app, other] = [newApp(), newApp()];
  for (const person of ['ben', 'dora']) await prepare(idOf(app, person));
  await prepare(idOf(other, 'ben'));
  expect(await harness.sandbox.eraseSandboxPeople({ clientId: app })).toMatchObject({ people: 2 });
  expect(await readingsOf(idOf(app, 'dora'))).toEqual([]);
  expect((await countAll(idOf(other, 'ben')))['reading']).toBe(5);
  expect(await harness.sandbox.eraseSandboxPeople({ clientId: app })).toMatchObject({ people: 0 });
  expect(await reasonOf(harness.sandbox.eraseSandboxPeople({ clientId: 'app_1' }))).toBe('invalid_request');
});

test('one reading a minute arrives for dora, for a day after her last use, and none for the others', async () => {
  const app = newApp();
  const [ben, dora] = [idOf(app, 'ben'), idOf(app, 'dora')];
  await prepare(dora);
  await prepare(ben);
  const before = (await readingsOf(ben)).length;
  const newest = async () => (await readingsOf(dora, 'heart'))[0]?.start_at.getTime() ?? 0;
  const now = () => harness.clock.now().getTime();
  await eventually(async () => (await newest()) === now());
  for (let minute = 0; minute < 3; minute += 1) {
    harness.clock.advance(60_000);
    await eventually(async () => (await newest()) === now());
  }
  const { rows } = await owner.query('SELECT changes FROM sandbox_person WHERE user_id = $1', [dora]);
  expect(rows[0].changes).toBe(4);
  expect((await readingsOf(ben)).length).toBe(before);
});

describe('the preparation of a person', () => {
  const idOf = (number: number) => `sandbox:app_sandbox_1:${SANDBOX_PEOPLE[number - 1]}`;

  /** Preparations of people without data, which end when `finish` is called. At most two are made at once, and one waits. */
  function start() {
    const clock = new FakeClock();
    const begun: string[] = [];
    const { promise: finished, resolve: finish } = Promise.withResolvers<boolean>();
    const ports: Partial<SandboxPorts> = {
      clock,
      people: {
        use: async () => ({ begunAt: clock.now(), madeUntil: null }),
        made: () => finished,
      } as Partial<SandboxPorts['people']> as SandboxPorts['people'],
      lives: {
        keepsArriving: () => false,
        begin: (_person, userId) => {
          begun.push(userId);
          return { profile: null, readings: [], records: [] };
        },
        proceed: () => {
          throw new Error('nothing was made before');
        },
      },
    };
    const turns = new FairTurns({ atOnce: 2, perKey: 2, maxWaiting: 1, maxWaitMs: Number.POSITIVE_INFINITY });
    return {
      ports,
      prepare: sharePreparations(ports as SandboxPorts, turns),
      begun,
      finish: () => finish(true),
    };
  }

  test('parallel preparations of a person make the data once, and a later one is a new one', async () => {
    const { prepare, begun, finish } = start();
    const first = Promise.all(Array.from({ length: 20 }, () => prepare(idOf(1))));
    finish();
    await first;
    expect(begun).toEqual([idOf(1)]);
    await prepare(idOf(1));
    expect(begun).toEqual([idOf(1), idOf(1)]);
  });

  test('data of two people is made at once; beyond those who wait, a preparation is refused and may be repeated', async () => {
    const { prepare, begun, finish } = start();
    const waiting = [1, 2, 3].map((number) => prepare(idOf(number)));
    await expect(prepare(idOf(4))).rejects.toMatchObject({ reason: 'unavailable', retryAfterSeconds: 1 });
    expect(begun).toEqual([idOf(1), idOf(2)]);
    finish();
    await Promise.all(waiting);
    await prepare(idOf(4));
    expect(begun).toEqual([1, 2, 3, 4].map(idOf));
  });

  test('an app whose people fill the queue does not keep out those of another', async () => {
    const { prepare, begun, finish } = start();
    const other = 'sandbox:app_sandbox_2:ada';
    const waiting = [...[1, 2, 3].map(idOf), other].map((userId) => prepare(userId));
    finish();
    await Promise.all(waiting);
    expect(begun).toContain(other);
  });

  test('a preparation that fails does so for all who wait for it, and a repeat begins again', async () => {
    const { prepare, begun, finish } = start();
    const refused: Promise<void>[] = [];
    for (const number of [1, 2, 3, 4, 4]) refused.push(prepare(idOf(number)));
    const results = Promise.allSettled(refused.slice(3));
    const rejected = { status: 'rejected', reason: unavailable() };
    expect(await results).toEqual([rejected, rejected]);
    finish();
    await Promise.all(refused.slice(0, 3));
    await prepare(idOf(4));
    expect(begun).toHaveLength(4);
  });

  test('a person is made in steps of at most a thousand readings, between which other work has its turn', async () => {
    const { ports, prepare, finish } = start();
    const perTurn: number[] = [0];
    const count = () => void perTurn.push(0);
    const at = new Date('2026-01-01T00:00:00Z');
    const draft = { type: 'Heart Rate', start: at, end: at, value: 60, unit: '', source: 'manual' };
    const readings = (function* () {
      for (let made = 0; made < 3_000; made += 1) {
        if (made % 100 === 0) setImmediate(count);
        perTurn.push((perTurn.pop() ?? 0) + 1);
        yield draft;
      }
    })();
    const put = async () => ({ inserted: 0, updated: 0, unchanged: 0 });
    Object.assign(ports, { readingWriter: { put } });
    Object.assign(ports.lives ?? {}, { begin: () => ({ profile: null, readings, records: [] }) });
    finish();
    await prepare(idOf(1));
    expect(Math.max(...perTurn)).toBe(1_000);
  });
});
