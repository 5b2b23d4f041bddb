import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DATA_PATHS } from '@phds/catalog/endpoints';
import { getMetric } from '@phds/catalog/metrics';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { Endpoint, TrendBucket } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { FakeClock } from '@phds/test-kit/fake-clock';
import type pg from 'pg';
import type { Caller } from '../src/app/caller.ts';
import { releaseData } from '../src/app/data-release.ts';
import type { SummaryQuery } from '../src/app/ports.ts';
import { preview } from '../src/app/preview.ts';
import { createPublicIds } from '../src/app/public-ids.ts';
import type { DataPorts } from '../src/app/resources.ts';
import { toStatistics } from '../src/domain/summary.ts';
import { createPgSummaries, type ScanLimits } from '../src/store/pg-summaries.ts';
import { bodyOf, type Harness, NOW, reading, refusalOf, startHarness } from './harness.ts';
import { PATIENT_SCANS } from './patient-scans.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => harness[Symbol.asyncDispose]());

async function aggregate(userId: string, query: object = {}, dataFrom: string | null = null) {
  return bodyOf(
    await harness.reads.read(
      { endpoint: Endpoint.AGGREGATIONS, parameters: query },
      await harness.about(userId, { dataFrom }),
    ),
  ).data;
}

async function trend(
  userId: string,
  query: object = {},
  bucket = TrendBucket.UNSPECIFIED,
  dataFrom: string | null = null,
) {
  return bodyOf(
    await harness.reads.read(
      { endpoint: Endpoint.TRENDS, parameters: { ...query, bucket } },
      await harness.about(userId, { dataFrom }),
    ),
  );
}

describe('aggregations', () => {
  test('average types are computed from readings, with one more decimal for the average and an inclusive range', async () => {
    await harness.putReadings('average', [
      reading('Heart Rate', '2026-01-01T10:00:00Z', 40),
      reading('Heart Rate', '2026-01-02T10:00:00Z', 41),
      reading('Heart Rate', '2026-01-04T10:00:00Z', 72),
      reading('Heart Rate', '2026-01-03T10:00:00Z', 131, { source: 'iphone' }),
      { ...reading('ECG', '2026-01-03T10:00:00Z', 0), value: undefined },
    ]);
    const heart = await aggregate('average');
    expect(heart).toEqual({
      from: null,
      to: null,
      timeZone: 'UTC',
      generatedAt: NOW,
      metrics: [
        {
          type: 'Heart Rate',
          category: 'heart',
          unit: '/min',
          basis: 'reading',
          count: 4,
          latest: { value: 72, timestamp: '2026-01-04T10:00:00.000Z' },
          average: 71,
          min: 40,
          max: 131,
          sum: 284,
          referenceRange: { low: 41, high: 130, source: 'NEWS2, Royal College of Physicians 2017' },
          outOfRange: { below: 1, above: 1, total: 2 },
        },
      ],
    });
    expect(Object.keys(heart)).toEqual(['from', 'to', 'timeZone', 'generatedAt', 'metrics']);
  });

  test("a window that ends before the grant's data window starts gets an empty response, never with from after to", async () => {
    await harness.putReadings('later', [reading('Heart Rate', '2026-01-02T10:00:00Z', 60)]);
    for (const query of [{ from: '2026-01-01', to: '2026-01-10' }, { to: '2026-01-10' }]) {
      const { from, to, metrics } = await aggregate('later', query, '2026-02-01');
      expect({ from, to, metrics }).toEqual({
        from: '2026-01-10T00:00:00.000Z',
        to: '2026-01-10T00:00:00.000Z',
        metrics: [],
      });
    }
  });

  test('additive types use daily totals in the zone, and have no reference range', async () => {
    await harness.ingestion.putProfile({ userId: 'additive', timeZone: 'Europe/Berlin' });
    await harness.putReadings('additive', [
      // 23:30 in Berlin, then 00:30 of the next local day.
      reading('Steps', '2026-01-01T22:30:00Z', 100),
      reading('Steps', '2026-01-01T23:30:00Z', 200),
      reading('Steps', '2026-01-02T10:00:00Z', 301),
    ]);
    const { timeZone, metrics } = await aggregate('additive');
    expect(timeZone).toBe('Europe/Berlin');
    expect(metrics).toEqual([
      {
        type: 'Steps',
        category: 'activity',
        unit: '{steps}',
        basis: 'day',
        count: 2,
        latest: { value: 501, timestamp: '2026-01-01T23:00:00.000Z' },
        average: 300.5,
        min: 100,
        max: 501,
        sum: 601,
        referenceRange: null,
        outOfRange: null,
      },
    ]);
  });

  test('sleep uses the total of the date of waking up', async () => {
    await harness.putReadings('sleeper', [
      reading('Sleep', '2026-01-01T22:00:00Z', 209.9, { end: '2026-01-02T02:00:00Z' }),
      reading('Sleep', '2026-01-02T02:30:00Z', 210.1, { end: '2026-01-02T06:00:00Z' }),
      reading('Sleep', '2026-01-02T22:00:00Z', 419.9, { end: '2026-01-03T06:00:00Z' }),
    ]);
    const { metrics } = await aggregate('sleeper');
    expect(metrics[0]).toMatchObject({
      basis: 'day',
      count: 2,
      sum: 839.9,
      min: 419.9,
      max: 420,
      latest: { value: 419.9, timestamp: '2026-01-03T00:00:00.000Z' },
      outOfRange: { below: 1, above: 0, total: 1 },
    });
  });

  test('a window, a type and a zone filter it; a date is midnight in the zone', async () => {
    const query = { from: '2026-01-02', to: '2026-01-03', type: 'steps', timeZone: 'Europe/Berlin' };
    expect(await aggregate('additive', query)).toMatchObject({
      from: '2026-01-01T23:00:00.000Z',
      to: '2026-01-02T23:00:00.000Z',
      metrics: [{ sum: 501 }],
    });
    expect(await aggregate('additive', { type: 'Glucose' })).toMatchObject({ metrics: [] });
  });

  test("nothing from before the grant's data window counts", async () => {
    const { from, metrics } = await aggregate('average', { from: '2020-01-01' }, '2026-01-03');
    expect(from).toBe('2026-01-03T00:00:00.000Z');
    expect(metrics[0]).toMatchObject({ count: 2, min: 72, max: 131 });
    const { metrics: nights } = await aggregate('sleeper', {}, '2026-01-02');
    expect(nights[0]).toMatchObject({ sum: 630, count: 2 });
  });

  test('entries are in catalog order', async () => {
    await harness.putReadings('ordered', [
      reading('Weight', '2026-01-01T10:00:00Z', 80.005),
      reading('Steps', '2026-01-01T10:00:00Z', 10),
      reading('Heart Rate', '2026-01-01T10:00:00Z', 60),
    ]);
    const { metrics } = await aggregate('ordered');
    expect(metrics.map(({ type }: { type: string }) => type)).toEqual(['Heart Rate', 'Steps', 'Weight']);
    expect(metrics[2]).toMatchObject({ average: 80.01, sum: 80.01, latest: { value: 80.01 } });
  });

  test.each(['Mars/Olympus', '+01:00', 'UTC+1 ', "'; DROP TABLE reading"])(
    'the zone %j is refused by name',
    async (timeZone) => {
      const refusal = await refusalOf(aggregate('average', { timeZone }));
      expect(refusal.reason).toBe('invalid_request');
      expect(refusal.violations[0]?.parameter).toBe('timeZone');
    },
  );
});

describe('trends', () => {
  test('a point has exactly the documented fields; an average type has its average', async () => {
    await harness.putReadings('points', [
      reading('Heart Rate', '2026-01-02T10:15:00Z', 60),
      reading('Heart Rate', '2026-01-02T10:45:00Z', 61),
      reading('Heart Rate', '2026-01-02T11:00:00Z', 90),
    ]);
    const body = await trend('points', { type: 'Heart Rate' }, TrendBucket.HOUR);
    expect(body.pagination).toEqual({ page: 1, pageSize: 20, total: 2, totalPages: 1 });
    expect(JSON.stringify(body.data[1])).toBe(
      '{"type":"Heart Rate","bucket":"hour","start":"2026-01-02T10:00:00+00:00","end":"2026-01-02T11:00:00+00:00",' +
        '"unit":"/min","count":2,"value":60.5,"average":60.5,"min":60,"max":61,"sum":121}',
    );
  });

  test('buckets are days by default, newest first, without empty ones, for all types', async () => {
    await harness.putReadings('days', [
      reading('Steps', '2026-01-02T10:00:00Z', 5),
      reading('Steps', '2026-01-02T12:00:00Z', 7),
      reading('Heart Rate', '2026-01-02T10:00:00Z', 60),
      reading('Steps', '2026-01-09T10:00:00Z', 1),
    ]);
    const body = await trend('days');
    expect(
      body.data.map((point: Record<string, unknown>) => [point['type'], point['start'], point['value']]),
    ).toEqual([
      ['Steps', '2026-01-09T00:00:00+00:00', 1],
      ['Heart Rate', '2026-01-02T00:00:00+00:00', 60],
      ['Steps', '2026-01-02T00:00:00+00:00', 12],
    ]);
    expect(body.data[2]).toMatchObject({ bucket: 'day', count: 2, average: 6, min: 5, max: 7, sum: 12 });
  });

  test('pages of points keep the true total, even beyond the end', async () => {
    const second = await trend('days', { page: { page: 2, pageSize: 2 } });
    expect(second.data).toHaveLength(1);
    expect(second.pagination).toEqual({ page: 2, pageSize: 2, total: 3, totalPages: 2 });
    expect(await trend('days', { page: { page: 7, pageSize: 2 } })).toEqual({
      data: [],
      pagination: { page: 7, pageSize: 2, total: 3, totalPages: 2 },
    });
  });

  test('of several devices, the one with the largest sum counts in each hour, with its readings only', async () => {
    await harness.putReadings('devices', [
      reading('Steps', '2026-01-02T10:05:00Z', 100, { source: 'iphone' }),
      reading('Steps', '2026-01-02T10:35:00Z', 50, { source: 'iphone' }),
      reading('Steps', '2026-01-02T10:10:00Z', 160, { source: 'apple-watch' }),
      reading('Steps', '2026-01-02T11:10:00Z', 20, { source: 'apple-watch' }),
      reading('Steps', '2026-01-02T11:10:00Z', 30, { source: 'iphone' }),
      reading('Steps', '2026-01-02T12:10:00Z', 7, { source: 'manual' }),
    ]);
    const { data } = await trend('devices', { type: 'Steps' });
    expect(data).toMatchObject([{ value: 197, sum: 197, count: 3, min: 7, max: 160, average: 65.7 }]);
    const { metrics } = await aggregate('devices');
    expect(metrics).toMatchObject([{ basis: 'day', count: 1, sum: 197 }]);
  });

  test('sleep counts for the local date of waking up, once for all devices', async () => {
    await harness.putReadings('night', [
      reading('Sleep', '2026-01-01T21:30:00Z', 480, { end: '2026-01-02T06:58:00Z' }),
      reading('Sleep', '2026-01-01T21:40:00Z', 470, { end: '2026-01-02T07:03:00Z', source: 'iphone' }),
      reading('Sleep', '2026-01-02T13:00:00Z', 30, { end: '2026-01-02T13:30:00Z' }),
      // In Berlin this one ends after midnight, in UTC before.
      reading('Sleep', '2026-01-02T20:00:00Z', 60, { end: '2026-01-02T23:10:00Z' }),
    ]);
    const { data } = await trend('night', { type: 'Sleep', timeZone: 'Europe/Berlin' });
    expect(data).toMatchObject([
      { start: '2026-01-03T00:00:00+01:00', value: 60, count: 1 },
      { start: '2026-01-02T00:00:00+01:00', value: 510, count: 2 },
    ]);
    const window = { type: 'Sleep', timeZone: 'Europe/Berlin', from: '2026-01-02', to: '2026-01-03' };
    expect((await trend('night', window)).data).toMatchObject([{ value: 510 }]);
  });

  test("points start with the grant's data window", async () => {
    const { data } = await trend('days', {}, TrendBucket.DAY, '2026-01-03');
    expect(data).toHaveLength(1);
  });

  test('a bucket of another width is refused', async () => {
    const refusal = await refusalOf(trend('days', {}, 9 as TrendBucket));
    expect(refusal.violations[0]?.parameter).toBe('bucket');
  });
});

// Asia/Kolkata's hours differ from those of all rollups, so its summaries are computed from readings.

/** A pool whose scans of readings end when the test says so. */
function createSlowPool(max: number) {
  const scans: { readonly userId: string; readonly end: () => void }[] = [];
  const client = {
    query: (asked: string | pg.QueryConfig) => {
      if (typeof asked === 'string') return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<unknown>();
      scans.push({ userId: String(asked.values?.[0]), end: () => resolve({ rows: [] }) });
      return promise;
    },
    release: () => undefined,
  };
  const pool = {
    query: () => Promise.resolve({ rows: [{ usable: false, time_zone: 'Europe/Berlin' }] }),
    connect: () => Promise.resolve(client),
    options: { max },
  };
  return { pool: pool as unknown as pg.Pool, scans };
}

function open(limits: Partial<ScanLimits> = {}, poolSize = 10) {
  const { pool, scans } = createSlowPool(poolSize);
  const summaries = createPgSummaries(pool, { ...PATIENT_SCANS, ...limits });
  const ask = (askedBy: string, userId: string) => {
    const query = {
      askedBy,
      userId,
      metrics: ['steps' as const],
      timeZone: 'Asia/Kolkata',
      range: { from: null, to: null },
      since: null,
    };
    return summaries.summarise(query);
  };
  return { ask, scans };
}

/** Waits until everything that needs no response of the database has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const namesOf = (scans: readonly { readonly userId: string }[]) => scans.map(({ userId }) => userId);

describe('summaries computed from readings', () => {
  test('two endless scans of one app do not delay another app', async () => {
    const { ask, scans } = open({ maxWaitMs: 50 });
    const held = ['ada', 'bob'].map((user) => ask('heavy', user));
    await settled();
    const refused = ask('heavy', 'cyd');
    const other = ask('light', 'dan');
    await settled();
    expect(namesOf(scans)).toEqual(['ada', 'bob', 'dan']);
    await expect(refused).rejects.toMatchObject({ reason: 'unavailable' });
    for (const { end } of scans) end();
    await Promise.all([...held, other]);
  });

  test('run four at a time, two of one app, and a free slot goes to the app with the fewest running', async () => {
    const { ask, scans } = open();
    const heavy = ['a', 'b', 'c', 'd'].map((name) => ask('heavy', name));
    const busy = ['e', 'f', 'g'].map((name) => ask('busy', name));
    const late = ['h', 'i'].map((name) => ask('late', name));
    await settled();
    expect(namesOf(scans)).toEqual(['a', 'b', 'e', 'f']);
    const begun: string[] = [];
    for (let ended = 0; ended < 5; ended += 1) {
      scans[ended]?.end();
      await settled();
      begun.push(...namesOf(scans.slice(4 + ended)));
    }
    // When heavy's `a` ends, heavy has one, late none; then heavy has none; then busy and late have one each, and busy waited
    // longer.
    expect(begun).toEqual(['h', 'c', 'g', 'i', 'd']);
    for (const { end } of scans) end();
    await Promise.all([...heavy, ...busy, ...late]);
  });

  test('leave half of a small pool to other work', async () => {
    const { ask, scans } = open({}, 4);
    const answers = ['one', 'two', 'three'].map((app) => ask(app, app));
    await settled();
    expect(namesOf(scans)).toEqual(['one', 'two']);
    scans[0]?.end();
    await settled();
    expect(namesOf(scans)).toEqual(['one', 'two', 'three']);
    for (const { end } of scans) end();
    await Promise.all(answers);
  });

  test('are refused when many of the app are waiting or the wait is long, and continue afterwards', async () => {
    const { ask, scans } = open({ maxWaiting: 1, maxWaitMs: 50 });
    const first = ['ada', 'bob'].map((user) => ask('app', user));
    await settled();
    const late = ask('app', 'cyd');
    await settled();
    await expect(ask('app', 'dan')).rejects.toMatchObject({ reason: 'unavailable' });
    await expect(late).rejects.toMatchObject({ reason: 'unavailable' });
    for (const { end } of scans) end();
    await Promise.all(first);
    const next = ask('app', 'dan');
    await settled();
    expect(namesOf(scans)).toEqual(['ada', 'bob', 'dan']);
    scans.at(-1)?.end();
    await next;
  });
});

test('a summary counts for the app of the token, and a preview for the person', async () => {
  const askers: string[] = [];
  const ports = {
    profiles: { findTimeZone: () => Promise.resolve(null) },
    summaries: {
      summarise: ({ askedBy }: SummaryQuery) => Promise.resolve(askers.push(askedBy)).then(() => []),
      trend: ({ askedBy }: SummaryQuery) =>
        Promise.resolve(askers.push(askedBy)).then(() => ({ items: [], total: 0 })),
    },
    clock: new FakeClock(NOW),
  } as unknown as DataPorts;
  const caller = {
    clientId: 'app_one',
    userId: 'ada',
    scopes: SCOPE_NAMES,
    dataFrom: null,
  } as unknown as Caller;
  const recorder = { record: () => Promise.resolve('released' as const) };
  const publicIds = createPublicIds(Buffer.alloc(32));
  const parameters = {
    page: 1,
    pageSize: 5,
    from: '',
    to: '',
    type: '',
    bucket: null,
    timeZone: '',
    updatedSince: '',
  };
  for (const path of DATA_PATHS.filter(
    ({ endpoint }) => endpoint === 'aggregations' || endpoint === 'trends',
  )) {
    const request = { path, medicationId: '', parameters, requestId: 'r', scope: '' };
    await releaseData({ data: ports, recorder, publicIds }, caller, request);
  }
  await preview(ports, publicIds, { userId: 'ada', scope: 'read:trends', dataFrom: null });
  expect(askers).toEqual(['app_one', 'app_one', 'person ada', 'person ada']);
});

test.each([
  // 408.9 / 12 is 34.075; float division gives slightly less.
  ['bmi', { count: 12, sum: 408.9, min: 18.5, max: 91 }, 34.08, 408.9],
  ['bmi', { count: 3, sum: 0.1 + 0.2 + 60, min: 0.1, max: 60 }, 20.1, 60.3],
  ['weight', { count: 8, sum: 640.02, min: 80, max: 80.01 }, 80.003, 640.02],
  ['heart-rate', { count: 20, sum: 1201, min: 60, max: 61 }, 60.1, 1201],
  ['steps', { count: 10_000_000, sum: 123_456_789_012, min: 0, max: 1 }, 12345.7, 123_456_789_012],
] as const)('the average of %s over %j is %d, rounded in decimal', (key, raw, average, sum) => {
  expect(toStatistics(getMetric(key), raw)).toMatchObject({ average, sum });
});
