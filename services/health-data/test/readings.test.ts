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

  test('a page size over 100 is clamped and reported', async () => {
    const body = bodyOf(await list('exact', { page: { page: 1, pageSize: 4_000 } }));
    expect(body.pagination).toEqual({ page: 1, pageSize: 100, total: 3, totalPages: 1 });
  });

  test('a user without readings has an empty list', async () => {
    const body = bodyOf(await list('nobody'));
    expect(body).toEqual({ data: [], pagination: { page: 1, pageSize: 20, total: 0, totalPages: 0 } });
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

  test('the entity tag changes exactly with the body', async () => {
    const etag = async () => (await list('tagged')).etag;
    await harness.putReadings('tagged', [reading('Heart Rate', '2026-01-05T10:00:00Z', 70)]);
    const first = await etag();
    expect(await etag()).toBe(first);
    await harness.putReadings('tagged', [reading('Heart Rate', '2026-01-05T10:00:00Z', 71)]);
    expect(await etag()).not.toBe(first);
  });
});
