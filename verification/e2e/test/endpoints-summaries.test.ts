import { beforeAll, describe, expect, test } from '@jest/globals';
import { ingestReadings, setTimeZone } from '@phds/running-system/ingestion';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';

const USER = 'noor';
const SCOPES = ['read:aggregations', 'read:trends', 'read:weight', 'read:health-data:activity'];

let stack: SharedStack;
let app: PartnerApp;
let token: string;

// Berlin changes from +01:00 to +02:00 on 2025-03-30 and back on 2025-10-26.
beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  await setTimeZone(stack, USER, 'Europe/Berlin');
  await ingestReadings(stack, USER, [
    { type: 'Heart Rate', start: '2025-03-29T22:59:00Z', value: 50 },
    { type: 'Heart Rate', start: '2025-03-29T23:00:00Z', value: 60 },
    { type: 'Heart Rate', start: '2025-03-30T12:00:00Z', value: 71 },
    { type: 'Heart Rate', start: '2025-03-30T21:59:00Z', value: 140 },
    { type: 'Heart Rate', start: '2025-03-30T22:00:00Z', value: 40 },
    ...steps('2025-10-26T00:10:00Z', 100, 'apple-watch'),
    ...steps('2025-10-26T00:15:00Z', 80, 'iphone'),
    ...steps('2025-10-26T01:10:00Z', 30, 'apple-watch'),
    ...steps('2025-10-26T01:15:00Z', 50, 'iphone'),
    ...steps('2025-10-26T22:30:00Z', 7, 'iphone'),
    { type: 'Sleep', start: '2025-05-01T21:00:00Z', end: '2025-05-02T04:30:00Z', value: 450 },
    { type: 'Weight', start: '2025-06-01T06:00:00Z', value: 70.123 },
    { type: 'Weight', start: '2025-06-01T20:00:00Z', value: 176.37, unit: '[lb_av]' },
    { type: 'Weight', start: '2025-06-01T22:30:00Z', value: 69.5 },
  ]);
  token = (await app.connect(await signIn(stack, USER), SCOPES)).accessToken;
});

function steps(start: string, value: number, source: string) {
  const end = new Date(Date.parse(start) + 600_000).toISOString();
  return [{ type: 'Steps', start, end, value, source }];
}

async function trends(query: string) {
  return expectStatus(200, await app.read(token, `/api/v1/trends?${query}`)).body.data;
}

async function metric(type: string, query = '') {
  const url = `/api/v1/aggregations?type=${type}${query}`;
  const { metrics } = expectStatus(200, await app.read(token, url)).body.data;
  expect(metrics).toHaveLength(1);
  return metrics[0];
}

describe('trends', () => {
  test("the day of the change to summer time has 23 hours, in the user's zone", async () => {
    const [after, changed, before] = await trends('type=heart-rate');
    expect(changed).toEqual({
      type: 'Heart Rate',
      bucket: 'day',
      start: '2025-03-30T00:00:00+01:00',
      end: '2025-03-31T00:00:00+02:00',
      unit: '/min',
      count: 3,
      value: 90.3,
      average: 90.3,
      min: 60,
      max: 140,
      sum: 271,
    });
    expect([after.start, after.count, before.start, before.count]).toEqual([
      '2025-03-31T00:00:00+02:00',
      1,
      '2025-03-29T00:00:00+01:00',
      1,
    ]);
  });

  test('the day of the change to winter time has 25 hours, and its repeated hour is two hours long', async () => {
    const [day, ...others] = await trends('type=steps');
    expect(others).toEqual([]);
    // Of several devices, the one with the largest total counts in each hour: 100 + 50 + 7.
    expect(day).toMatchObject({
      start: '2025-10-26T00:00:00+02:00',
      end: '2025-10-27T00:00:00+01:00',
      value: 157,
      sum: 157,
    });
    const hours = await trends('type=steps&bucket=hour');
    expect(hours.map(({ start, end, sum }: Record<string, unknown>) => [start, end, sum])).toEqual([
      ['2025-10-26T23:00:00+01:00', '2025-10-27T00:00:00+01:00', 7],
      ['2025-10-26T02:00:00+01:00', '2025-10-26T03:00:00+01:00', 50],
      ['2025-10-26T02:00:00+02:00', '2025-10-26T02:00:00+01:00', 100],
    ]);
  });

  test('another time zone changes the day boundaries', async () => {
    const points = await trends('type=steps&timeZone=Asia/Tokyo');
    expect(points.map(({ start, sum }: Record<string, unknown>) => [start, sum])).toEqual([
      ['2025-10-27T00:00:00+09:00', 7],
      ['2025-10-26T00:00:00+09:00', 150],
    ]);
  });

  test('a night counts for the day of waking up', async () => {
    const [night] = await trends('type=sleep');
    expect(night).toMatchObject({ start: '2025-05-02T00:00:00+02:00', value: 450, unit: 'min' });
  });

  test('a day that the window cuts is limited to the window', async () => {
    const window = 'from=2025-03-30T01:30:00%2B01:00&to=2025-03-30T20:00:00Z';
    const [point, ...others] = await trends(`type=heart-rate&${window}`);
    expect(others).toEqual([]);
    expect(point).toMatchObject({
      start: '2025-03-30T01:30:00+01:00',
      end: '2025-03-30T22:00:00+02:00',
      count: 1,
      value: 71,
    });
  });

  test('dates in a window mean midnight in the zone, and without a type all types are returned', async () => {
    const points = await trends('from=2025-03-30&to=2025-03-31&type=heart-rate');
    expect(points.map(({ count }: { count: number }) => count)).toEqual([3]);
    const all = await trends('pageSize=100');
    expect(new Set(all.map(({ type }: { type: string }) => type))).toEqual(
      new Set(['Heart Rate', 'Steps', 'Sleep', 'Weight']),
    );
  });
});

describe('aggregations', () => {
  test('are computed from single readings, with the number outside the reference range', async () => {
    expect(await metric('heart-rate')).toEqual({
      type: 'Heart Rate',
      category: 'heart',
      unit: '/min',
      basis: 'reading',
      count: 5,
      latest: { value: 40, timestamp: '2025-03-30T22:00:00.000Z' },
      average: 72.2,
      min: 40,
      max: 140,
      sum: 361,
      referenceRange: { low: 41, high: 130, source: expect.any(String) },
      outOfRange: { below: 1, above: 1, total: 2 },
    });
  });

  test('of additive types are computed from daily totals, without a range if the type has none', async () => {
    expect(await metric('Steps')).toMatchObject({
      basis: 'day',
      count: 1,
      latest: { value: 157 },
      sum: 157,
      referenceRange: null,
      outOfRange: null,
    });
    expect(await metric('Sleep')).toMatchObject({
      basis: 'day',
      outOfRange: { below: 0, above: 0, total: 0 },
    });
  });

  test("are limited to the window, in the user's zone", async () => {
    const { count, sum } = await metric('heart-rate', '&from=2025-03-30&to=2025-03-31');
    expect([count, sum]).toEqual([3, 271]);
    const utc = await metric('heart-rate', '&from=2025-03-30&to=2025-03-31&timeZone=UTC');
    expect([utc.count, utc.sum]).toEqual([3, 251]);
  });
});

describe('weight', () => {
  test("has one entry for each day in the user's zone: the latest, converted, with two decimals", async () => {
    const { data } = expectStatus(200, await app.read(token, '/api/v1/weight')).body;
    expect(data.map(({ date, weightKg }: Record<string, unknown>) => [date, weightKg])).toEqual([
      ['2025-06-02', 69.5],
      ['2025-06-01', 80],
    ]);
  });
});
