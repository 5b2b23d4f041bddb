import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { at, bodyOf, type Harness, reading, startHarness } from './harness.ts';
import { read } from './record-reader.ts';

const USER = 'ends of the calendar';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  const moment = at('2025-06-01T10:00:00Z');
  await harness.putReadings(USER, [reading('Weight', '2025-06-01T10:00:00Z', 80)]);
  await harness.putHealthRecords(USER, [
    { key: 's', source: 'ehr', record: { case: 'symptom', value: { description: 'A', timestamp: moment } } },
    {
      key: 'e',
      source: 'ehr',
      record: { case: 'ehrRecord', value: { resourceType: 'Observation', summary: 'A', timestamp: moment } },
    },
    { key: 'c', source: 'ehr', record: { case: 'condition', value: { name: 'A', sinceDate: '2020' } } },
  ]);
});
afterAll(async () => harness[Symbol.asyncDispose]());

// With an offset, an instant leaves the years 1 to 9999 that parameters allow.
const WIDEST = [
  { from: '0001-01-01', to: '9999-12-31' },
  { from: '0001-01-01T00:00:00+23:59', to: '9999-12-31T23:59:59-23:59' },
];

test.each(['symptoms', 'conditions', 'ehr', 'weight'] as const)(
  '%s accepts the first and the last of all dates and instants',
  async (endpoint) => {
    for (const query of WIDEST) {
      expect((await read(harness, endpoint, USER, query)).pagination.total).toBe(1);
      expect((await read(harness, endpoint, USER, { from: query.to })).pagination.total).toBe(0);
      expect((await read(harness, endpoint, USER, { to: query.from })).pagination.total).toBe(0);
    }
  },
);

test.each(['UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
  'readings, summaries and the first day of a grant accept them too, in %s',
  async (timeZone) => {
    for (const window of WIDEST) {
      const list = async (query: object, dataFrom: string | null = null) => {
        const options = await harness.about(USER, { dataFrom });
        const readings = await harness.reads.read(
          { endpoint: Endpoint.HEALTH_DATA, category: 'body-composition', parameters: query },
          options,
        );
        const zoned = { ...query, timeZone };
        const points = await harness.reads.read({ endpoint: Endpoint.TRENDS, parameters: zoned }, options);
        const summary = bodyOf(
          await harness.reads.read({ endpoint: Endpoint.AGGREGATIONS, parameters: zoned }, options),
        ).data;
        return [bodyOf(readings).pagination.total, bodyOf(points).pagination.total, summary.metrics.length];
      };
      expect(await list(window)).toEqual([1, 1, 1]);
      expect(await list({}, '0001-01-01')).toEqual([1, 1, 1]);
      expect(await list({}, '9999-12-31')).toEqual([0, 0, 0]);
      expect(await list({ from: window.to })).toEqual([0, 0, 0]);
      expect(await list({ to: window.from })).toEqual([0, 0, 0]);
    }
  },
);
