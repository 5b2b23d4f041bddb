import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Endpoint, TrendBucket } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { bodyOf, type Harness, reading, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => harness[Symbol.asyncDispose]());

async function trend(userId: string, query: object, bucket = TrendBucket.UNSPECIFIED) {
  return bodyOf(
    await harness.reads.read(
      { endpoint: Endpoint.TRENDS, parameters: { ...query, bucket } },
      await harness.about(userId),
    ),
  );
}

test.each([
  ['Europe/Berlin', '2025-03-30', '2025-03-30T00:00:00+01:00', '2025-03-31T00:00:00+02:00', 23],
  ['Europe/Berlin', '2025-10-26', '2025-10-26T00:00:00+02:00', '2025-10-27T00:00:00+01:00', 25],
  ['America/New_York', '2025-03-09', '2025-03-09T00:00:00-05:00', '2025-03-10T00:00:00-04:00', 23],
  ['America/New_York', '2025-11-02', '2025-11-02T00:00:00-04:00', '2025-11-03T00:00:00-05:00', 25],
  ['Asia/Kolkata', '2025-06-01', '2025-06-01T00:00:00+05:30', '2025-06-02T00:00:00+05:30', 24],
  // Midnight occurs twice there at the end of summer time.
  ['America/Havana', '2025-11-02', '2025-11-02T00:00:00-04:00', '2025-11-03T00:00:00-05:00', 25],
  ['Atlantic/Azores', '2025-10-26', '2025-10-26T00:00:00+00:00', '2025-10-27T00:00:00-01:00', 25],
  // Summer time skips midnight there: the day starts at 01:00.
  ['America/Santiago', '2025-09-07', '2025-09-07T01:00:00-03:00', '2025-09-08T00:00:00-03:00', 23],
])('in %s the day %s lasts from %s to %s and has %d hours', async (timeZone, date, start, end, hours) => {
  const userId = `dst ${timeZone} ${date}`;
  const first = new Date(start).getTime();
  const everyHour = Array.from({ length: hours + 2 }, (_, hour) =>
    reading('Steps', new Date(first + (hour - 1) * 3_600_000).toISOString(), 1),
  );
  await harness.putReadings(userId, everyHour);
  const query = { type: 'Steps', timeZone, page: { page: 1, pageSize: 100 } };
  const { data: days } = await trend(userId, query);
  expect(days).toHaveLength(3);
  expect(days[1]).toMatchObject({ start, end, count: hours, sum: hours });
  const { data: hourly } = await trend(userId, query, TrendBucket.HOUR);
  expect(hourly).toHaveLength(hours + 2);
  expect(new Set(hourly.map((point: { start: string }) => point.start)).size).toBe(hours + 2);
  const windowed = await trend(userId, { ...query, from: date, to: end });
  expect(windowed.data).toMatchObject([{ start, sum: hours }]);
});

test('where the clock moves by half an hour, hours neither overlap nor cross the change', async () => {
  await harness.putReadings('half', [
    reading('Steps', '2025-04-05T14:50:00Z', 1),
    reading('Steps', '2025-04-05T15:10:00Z', 2),
    reading('Steps', '2025-10-04T15:20:00Z', 3),
    reading('Steps', '2025-10-04T15:40:00Z', 4),
  ]);
  const { data } = await trend('half', { timeZone: 'Australia/Lord_Howe' }, TrendBucket.HOUR);
  expect(data.map(({ start, end, sum }: Record<string, unknown>) => [start, end, sum])).toEqual([
    ['2025-10-05T02:30:00+11:00', '2025-10-05T03:00:00+11:00', 4],
    ['2025-10-05T01:00:00+10:30', '2025-10-05T02:30:00+11:00', 3],
    ['2025-04-06T01:30:00+10:30', '2025-04-06T02:00:00+10:30', 2],
    ['2025-04-06T01:00:00+11:00', '2025-04-06T01:30:00+10:30', 1],
  ]);
});
