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
