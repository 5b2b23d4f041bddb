import { beforeEach, describe, expect, test } from '@jest/globals';
import { METRICS } from '@phds/catalog/metrics';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { bodyOf, reading, refusalOf, shareHarness, textOf } from './harness.ts';

const harness = await shareHarness();
beforeEach(() => harness.consent.forget());

async function list(userId: string, query: object = {}, category = 'heart', dataFrom: string | null = null) {
  return harness.reads.read(
    { endpoint: Endpoint.HEALTH_DATA, category, parameters: query },
    await harness.about(userId, { dataFrom }),
  );
}

const HEX = '[0-9a-f]{32}';

describe('readings', () => {
  test('returns exactly the documented fields, in order, newest first', async () => {
    await harness.putReadings('exact', [
      reading('Heart Rate', '2026-01-02T03:04:05.600Z', 72, { end: '2026-01-02T03:05:00Z' }),
      reading('HRV', '2026-01-02T03:04:06Z', 41.24, { source: 'iphone' }),
      { type: 'ECG', start: { seconds: 1_767_000_000n }, source: 'apple-watch' },
      reading('Weight', '2026-01-02T03:04:06Z', 80),
    ]);
    const response = await list('exact');
    expect(textOf(response)).toMatch(
      new RegExp(
        '^' +
          [
            `\\{"data":\\[\\{"id":"rdg_${HEX}","type":"HRV","value":41\\.2,"unit":"ms","timestamp":"2026-01-02T03:04:06\\.000Z","source":"iphone"\\}`,
            `\\{"id":"rdg_${HEX}","type":"Heart Rate","value":72,"unit":"/min","timestamp":"2026-01-02T03:04:05\\.600Z","source":"apple-watch"\\}`,
            `\\{"id":"rdg_${HEX}","type":"ECG","value":null,"unit":"/min","timestamp":"2025-12-29T09:20:00\\.000Z","source":"apple-watch"\\}\\]`,
            '"pagination":\\{"page":1,"pageSize":20,"total":3,"totalPages":1\\}\\}',
          ].join(',') +
          '$',
      ),
    );
    expect(response.total).toBe(3);
    expect(response.etag).toMatch(/^"[A-Za-z0-9_-]{27}"$/);
  });

  test('every category returns its own metric types and no others', async () => {
    await harness.putReadings(
      'all',
      METRICS.map(({ name, plausible }) => reading(name, '2026-01-05T10:00:00Z', plausible.max)),
    );
    for (const category of new Set(METRICS.map((metric) => metric.category))) {
      const { data } = bodyOf(await list('all', {}, category));
      const expected = METRICS.filter((metric) => metric.category === category);
      expect(data.map(({ type }: { type: string }) => type).sort()).toEqual(
        expected.map(({ name }) => name).sort(),
      );
      for (const item of data) {
        expect(item.unit).toBe(expected.find(({ name }) => name === item.type)?.unit);
      }
    }
  });

  test('pages contain every reading once, those of the same time ordered by source; a page beyond the end is empty with the true total', async () => {
    await harness.putReadings(
      'pages',
      Array.from({ length: 45 }, (_, index) =>
        reading('Heart Rate', '2026-01-05T10:00:00Z', 60 + index, { source: `device-${index + 10}` }),
      ),
    );
    const ids: string[] = [];
    const sources: string[] = [];
    for (const page of [1, 2, 3]) {
      const body = bodyOf(await list('pages', { page: { page, pageSize: 20 } }));
      expect(body.pagination).toEqual({ page, pageSize: 20, total: 45, totalPages: 3 });
      ids.push(...body.data.map(({ id }: { id: string }) => id));
      sources.push(...body.data.map((item: { source: string }) => item.source));
    }
    expect(new Set(ids).size).toBe(45);
    expect(sources).toEqual(Array.from({ length: 45 }, (_, index) => `device-${index + 10}`));
    const beyond = bodyOf(await list('pages', { page: { page: 9, pageSize: 20 } }));
    expect(beyond).toEqual({ data: [], pagination: { page: 9, pageSize: 20, total: 45, totalPages: 3 } });
  });

  test('a page size over 100 is clamped and reported', async () => {
    const body = bodyOf(await list('pages', { page: { page: 1, pageSize: 4_000 } }));
    expect(body.pagination).toEqual({ page: 1, pageSize: 100, total: 45, totalPages: 1 });
  });

  test('a user without readings has an empty list', async () => {
    const body = bodyOf(await list('nobody'));
    expect(body).toEqual({ data: [], pagination: { page: 1, pageSize: 20, total: 0, totalPages: 0 } });
  });

  test('from is inclusive, to exclusive, a date is midnight UTC, and the total is that of the window', async () => {
    const hours = [
      '2026-01-01T23:59:59.999Z',
      '2026-01-02T00:00:00Z',
      '2026-01-02T12:00:00Z',
      '2026-01-03T00:00:00Z',
    ];
    await harness.putReadings(
      'window',
      hours.map((start) => reading('Heart Rate', start, 70)),
    );
    const timesOf = async (query: object) => {
      const body = bodyOf(await list('window', query));
      expect(body.pagination.total).toBe(body.data.length);
      return body.data.map(({ timestamp }: { timestamp: string }) => timestamp);
    };
    expect(await timesOf({ from: '2026-01-02', to: '2026-01-03' })).toEqual([
      '2026-01-02T12:00:00.000Z',
      '2026-01-02T00:00:00.000Z',
    ]);
    expect(await timesOf({ from: '2026-01-02T13:00:00+01:00' })).toEqual([
      '2026-01-03T00:00:00.000Z',
      '2026-01-02T12:00:00.000Z',
    ]);
    expect(await timesOf({ to: '2026-01-02T00:00:00 01:00' })).toEqual([]);
  });

  test('a type filters the list in any spelling of its name', async () => {
    await harness.putReadings('typed', [
      reading('Heart Rate', '2026-01-05T10:00:00Z', 70),
      reading('Resting HR', '2026-01-05T11:00:00Z', 60),
    ]);
    for (const type of ['Resting HR', 'resting-hr', 'RESTINGHR']) {
      const body = bodyOf(await list('typed', { type }));
      expect(body.data).toHaveLength(1);
      expect(body.pagination.total).toBe(1);
    }
    const windowed = bodyOf(await list('typed', { type: 'Heart Rate', from: '2026-01-05' }));
    expect(windowed.pagination.total).toBe(1);
  });

  test.each([
    [{ type: 'Steps' }, 'type'],
    [{ type: 'Nonsense' }, 'type'],
    [{ from: 'yesterday' }, 'from'],
    [{ to: '2026-02-30' }, 'to'],
    [{ from: '2026-01-02', to: '2026-01-02' }, 'from'],
    [{ timeZone: 'Europe/Berlin' }, 'timeZone'],
  ])('%j is refused with the name of the parameter', async (query, parameter) => {
    const refusal = await refusalOf(list('typed', query));
    expect(refusal.reason).toBe('invalid_request');
    expect(refusal.violations.map((violation) => violation.parameter)).toEqual([parameter]);
  });

  test('an unknown category is not found', async () => {
    expect((await refusalOf(list('typed', {}, 'aura'))).reason).toBe('not_found');
  });

  test("the grant's data window starts at midnight in the user's zone", async () => {
    await harness.ingestion.putProfile({ userId: 'since', timeZone: 'America/New_York' });
    await harness.putReadings('since', [
      reading('Heart Rate', '2026-01-02T04:59:59.999Z', 61),
      reading('Heart Rate', '2026-01-02T05:00:00Z', 62),
      reading('Heart Rate', '2026-01-03T05:00:00Z', 63),
    ]);
    const values = async (query: object) =>
      bodyOf(await list('since', query, 'heart', '2026-01-02')).data.map(
        ({ value }: { value: number }) => value,
      );
    expect(await values({})).toEqual([63, 62]);
    expect(await values({ from: '2025-01-01' })).toEqual([63, 62]);
    expect(await values({ to: '2026-01-03' })).toEqual([62]);
    expect(harness.consent.accesses.map(({ dataFrom }) => dataFrom)).toEqual(Array(3).fill('2026-01-02'));
  });

  test('the entity tag changes exactly with the body', async () => {
    const etag = async () => (await list('tagged')).etag;
    await harness.putReadings('tagged', [reading('Heart Rate', '2026-01-05T10:00:00Z', 70)]);
    const first = await etag();
    expect(await etag()).toBe(first);
    await harness.putReadings('tagged', [reading('Heart Rate', '2026-01-05T10:00:00Z', 71)]);
    expect(await etag()).not.toBe(first);
  });
});
