import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { at, type Harness, refusalOf, startHarness } from './harness.ts';
import { read as readFrom } from './record-reader.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => harness[Symbol.asyncDispose]());

const source = 'ehr';
let keys = 0;
const key = () => ({ key: `key-${keys++}`, source });

const read = (...args: Parameters<typeof readFrom> extends [unknown, ...infer Rest] ? Rest : never) =>
  readFrom(harness, ...args);

/** Makes the change between reading the page of symptoms and counting them. */
async function betweenPageAndCount<T>(change: () => Promise<unknown>, list: () => Promise<T>): Promise<T> {
  const { promise: pageRead, resolve: onPageRead } = Promise.withResolvers<void>();
  let changes = 0;
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [asked] = args as [string | pg.QueryConfig];
    const text = typeof asked === 'string' ? asked : asked.text;
    const run = () => Reflect.apply(query, this, args);
    if (!text.startsWith('SELECT') || !text.includes('symptom')) return run();
    if (text.includes('COUNT(')) {
      changes += 1;
      const late = pageRead.then(change).then(run);
      return typeof args.at(-1) === 'function' ? undefined : late;
    }
    // The pool passes a callback, a transaction expects a promise.
    const onAnswer = args.at(-1);
    if (typeof onAnswer !== 'function') return run().finally(onPageRead);
    args[args.length - 1] = (...answer: unknown[]) => {
      onPageRead();
      onAnswer(...answer);
    };
    return run();
  } as typeof query;
  try {
    const result = await list();
    expect(changes).toBe(1);
    return result;
  } finally {
    pg.Client.prototype.query = query;
  }
}

describe('lists of records', () => {
  test('pages contain every item once, even identical ones, and keep the true total', async () => {
    await harness.putHealthRecords(
      'many',
      Array.from({ length: 25 }, () => ({
        ...key(),
        record: {
          case: 'symptom' as const,
          value: { description: 'Same', timestamp: at('2026-01-02T10:00:00Z') },
        },
      })),
    );
    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => read('symptoms', 'many', { page: { page, pageSize: 10 } })),
    );
    const ids = pages.flatMap(({ data }) => data.map(({ id }: { id: string }) => id));
    expect(ids).toHaveLength(25);
    expect(new Set(ids).size).toBe(25);
    expect(pages[3]).toEqual({ data: [], pagination: { page: 4, pageSize: 10, total: 25, totalPages: 3 } });
  });

  test('page and total come from one snapshot: a record stored between the two statements is in neither', async () => {
    const put = (description: string) =>
      harness.putHealthRecords('snapshot', [
        {
          ...key(),
          record: { case: 'symptom', value: { description, timestamp: at('2026-01-02T10:00:00Z') } },
        },
      ]);
    await put('first');
    const body = await betweenPageAndCount(
      () => put('second'),
      () => read('symptoms', 'snapshot'),
    );
    expect(body.data).toHaveLength(1);
    expect(body.pagination.total).toBe(1);
    expect((await read('symptoms', 'snapshot')).pagination.total).toBe(2);
  });

  test.each(['symptoms', 'weight', 'medications'] as const)(
    '%s answers the largest page number with an empty page',
    async (endpoint) => {
      const page = 2 ** 32 - 1;
      const body = await read(endpoint, 'many', { page: { page, pageSize: 100 } });
      expect(body.data).toEqual([]);
      expect(body.pagination.page).toBe(page);
    },
  );

  test('windows and the data window of the grant limit them', async () => {
    await harness.putHealthRecords(
      'windowed',
      ['2026-01-01', '2026-01-02', '2026-01-03'].map((date) => ({
        ...key(),
        record: {
          case: 'moodEntry' as const,
          value: { mood: 'neutral', timestamp: at(`${date}T00:00:00Z`) },
        },
      })),
    );
    const total = async (query: object, dataFrom: string | null = null) =>
      (await read('mood', 'windowed', query, dataFrom)).pagination.total;
    expect(await total({ from: '2026-01-02' })).toBe(2);
    expect(await total({ from: '2026-01-01', to: '2026-01-03' })).toBe(2);
    expect(await total({}, '2026-01-03')).toBe(1);
    expect(await total({ from: '2026-01-01' }, '2026-01-03')).toBe(1);
  });

  test('a parameter that a resource does not support is refused by name', async () => {
    for (const [endpoint, query] of [
      ['medications', { from: '2026-01-01' }],
      ['profile', { type: 'Steps' }],
      ['symptoms', { timeZone: 'UTC' }],
    ] as const) {
      const refusal = await refusalOf(read(endpoint, 'one', query));
      expect(refusal.violations.map((violation) => violation.parameter)).toEqual(Object.keys(query));
    }
  });
});
