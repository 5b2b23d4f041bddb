import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Endpoint, TrendBucket } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { bodyOf, type Harness, reading, startHarness } from './harness.ts';

// The rollups use Berlin. New York has the same hours, so its responses are computed from hourly rollups; Kathmandu's are computed
// from the readings. All use the same readings: one in each quarter of an hour.
const ZONES = [
  ['Europe/Berlin', '+02:00'],
  ['America/New_York', '-04:00'],
  ['Asia/Kathmandu', '+05:45'],
] as const;
const USER = 'cut';
const OWN_ZONE = 'Europe/Berlin';
const QUARTER = 900_000;

interface Point {
  readonly type: string;
  readonly start: string;
  readonly end: string;
  readonly count: number;
}

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  for (const userId of [USER, 'clock change']) {
    await harness.ingestion.putProfile({ userId, timeZone: OWN_ZONE });
  }
  await harness.putReadings(USER, everyQuarter('2025-06-01T00:00:00Z', 3 * 96));
  await harness.putReadings('clock change', [
    ...everyQuarter('2025-03-29T23:00:00Z', 23 * 4),
    ...everyQuarter('2025-10-25T22:00:00Z', 25 * 4),
  ]);
});
afterAll(async () => harness[Symbol.asyncDispose]());

/** Steps, a heart rate, and a nap that ends at the same time. */
function everyQuarter(first: string, count: number) {
  const moments = Array.from({ length: count }, (_, index) => Date.parse(first) + index * QUARTER);
  return moments.flatMap((moment) => {
    const [at, before] = [new Date(moment).toISOString(), new Date(moment - QUARTER).toISOString()];
    return [
      reading('Steps', at, 1),
      reading('Heart Rate', at, 60),
      reading('Sleep', before, 15, { end: at }),
    ];
  });
}

async function trend(
  query: object,
  { userId = USER, bucket = TrendBucket.UNSPECIFIED, dataFrom = null as string | null } = {},
) {
  const options = await harness.about(userId, { dataFrom });
  const parameters = { page: { page: 1, pageSize: 100 }, ...query, bucket };
  return bodyOf(await harness.reads.read({ endpoint: Endpoint.TRENDS, parameters }, options)).data as Point[];
}

/** Points as `start end count`. */
async function boundsOf(...args: Parameters<typeof trend>): Promise<string[]> {
  return (await trend(...args)).map(({ start, end, count }) => `${start} ${end} ${count}`);
}

describe.each(ZONES)('in %s', (timeZone, offset) => {
  describe.each(['Steps', 'Heart Rate', 'Sleep'])('a point of %s', (type) => {
    test('of a day that the window cuts on both sides is limited to the window', async () => {
      const window = { from: `2025-06-02T03:00:00${offset}`, to: `2025-06-02T15:30:00${offset}` };
      expect(await boundsOf({ type, timeZone, ...window })).toEqual([`${window.from} ${window.to} 50`]);
    });

    test('of a day that the window cuts on one side keeps its other end, and whole days keep both', async () => {
      const window = { from: `2025-06-01T12:00:00${offset}`, to: `2025-06-03T00:15:00${offset}` };
      expect(await boundsOf({ type, timeZone, ...window })).toEqual([
        `2025-06-03T00:00:00${offset} ${window.to} 1`,
        `2025-06-02T00:00:00${offset} 2025-06-03T00:00:00${offset} 96`,
        `${window.from} 2025-06-02T00:00:00${offset} 48`,
      ]);
    });

    test('of a day at a window bound is the whole day', async () => {
      expect(await boundsOf({ type, timeZone, from: '2025-06-02', to: '2025-06-03' })).toEqual([
        `2025-06-02T00:00:00${offset} 2025-06-03T00:00:00${offset} 96`,
      ]);
    });

    test('of an hour that the window cuts is limited to the window', async () => {
      const window = { from: `2025-06-02T03:20:00${offset}`, to: `2025-06-02T04:40:00.500${offset}` };
      expect(await boundsOf({ type, timeZone, ...window }, { bucket: TrendBucket.HOUR })).toEqual([
        `2025-06-02T04:00:00${offset} ${window.to} 3`,
        `${window.from} 2025-06-02T04:00:00${offset} 2`,
      ]);
    });

    test('starts with the data of the grant where that cuts it', async () => {
      // At midnight in Berlin.
      const begins = {
        'Europe/Berlin': '2025-06-02T00:00:00+02:00',
        'America/New_York': '2025-06-01T18:00:00-04:00',
        'Asia/Kathmandu': '2025-06-02T03:45:00+05:45',
      }[timeZone];
      const points = await trend({ type, timeZone }, { dataFrom: '2025-06-02' });
      expect(points.at(-1)?.start).toBe(begins);
    });
  });

  test('the newest day of an additive type that the window cuts is returned with the start of the window', async () => {
    const from = `2025-06-02T03:20:00${offset}`;
    const query = { type: 'Steps', timeZone, from, to: `2025-06-02T15:00:00${offset}` };
    const { data } = bodyOf(
      await harness.reads.read(
        { endpoint: Endpoint.AGGREGATIONS, parameters: query },
        await harness.about(USER),
      ),
    );
    expect(data.metrics[0].latest).toEqual({ value: 46, timestamp: new Date(from).toISOString() });
    const later = { ...query, to: `2025-06-03T01:00:00${offset}` };
    const { data: next } = bodyOf(
      await harness.reads.read(
        { endpoint: Endpoint.AGGREGATIONS, parameters: later },
        await harness.about(USER),
      ),
    );
    const midnight = new Date(`2025-06-03T00:00:00${offset}`).toISOString();
    expect(next.metrics[0].latest).toEqual({ value: 4, timestamp: midnight });
  });
});

test.each([
  ['2025-03-30T01:30:00+01:00', '2025-03-30T05:00:00+02:00', 10],
  ['2025-03-30T03:00:00+02:00', '2025-03-30T05:00:00+02:00', 8],
  ['2025-10-26T02:30:00+02:00', '2025-10-26T02:30:00+01:00', 4],
  ['2025-10-26T01:00:00+02:00', '2025-10-26T02:00:00+01:00', 8],
])('on the day of a clock change a point from %s to %s has its own offsets', async (from, to, count) => {
  const options = { userId: 'clock change' };
  expect(await boundsOf({ type: 'Steps', from, to }, options)).toEqual([`${from} ${to} ${count}`]);
});

test('the parts into which windows cut a day contain each of its readings once', async () => {
  const midnights = ['2025-06-02T00:00:00+02:00', '2025-06-03T00:00:00+02:00'] as const;
  const cut = '2025-06-02T10:07:30+02:00';
  const query = { type: 'Steps', from: midnights[0], to: midnights[1] };
  const [early, late] = await Promise.all([
    boundsOf({ ...query, to: cut }),
    boundsOf({ ...query, from: cut }),
  ]);
  expect(early).toEqual([`${midnights[0]} ${cut} 41`]);
  expect(late).toEqual([`${cut} ${midnights[1]} 55`]);
});
