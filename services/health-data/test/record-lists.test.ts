import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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

describe('lists of records', () => {
  test('pages cover every item once, ties ordered by id, and keep the true total', async () => {
    await harness.putRecords(
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
      [1, 2, 3, 4].map((page) => read('listSymptoms', 'many', { page: { page, pageSize: 10 } })),
    );
    const ids = pages.flatMap(({ data }) => data.map(({ id }: { id: string }) => id));
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    expect(ids).toHaveLength(25);
    expect(pages[3]).toEqual({ data: [], pagination: { page: 4, pageSize: 10, total: 25, totalPages: 3 } });
  });

  test.each(['listSymptoms', 'listWeight', 'listMedications'] as const)(
    '%s answers the largest page number there is with an empty page',
    async (rpc) => {
      const page = 2 ** 32 - 1;
      const body = await read(rpc, 'many', { page: { page, pageSize: 100 } });
      expect(body.data).toEqual([]);
      expect(body.pagination.page).toBe(page);
    },
  );

  test('windows and the data window of the grant narrow them', async () => {
    await harness.putRecords(
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
      (await read('listMood', 'windowed', query, dataFrom)).pagination.total;
    expect(await total({ from: '2026-01-02' })).toBe(2);
    expect(await total({ from: '2026-01-01', to: '2026-01-03' })).toBe(2);
    expect(await total({}, '2026-01-03')).toBe(1);
    expect(await total({ from: '2026-01-01' }, '2026-01-03')).toBe(1);
  });

  test('a parameter that a resource has no use for is refused by name', async () => {
    for (const [rpc, query] of [
      ['listMedications', { from: '2026-01-01' }],
      ['getProfile', { type: 'Steps' }],
      ['listSymptoms', { timeZone: 'UTC' }],
    ] as const) {
      const refusal = await refusalOf(read(rpc, 'one', query));
      expect(refusal.violations.map((violation) => violation.parameter)).toEqual(Object.keys(query));
    }
  });
});
