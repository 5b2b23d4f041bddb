import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Endpoint, TrendBucket } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { at, bodyOf, type Harness, reading, refusalOf, startHarness } from './harness.ts';
import { read } from './record-reader.ts';

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

describe('a day on which the clock changes', () => {
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
});

describe('the zone of the profile', () => {
  test('a default time zone is used only for a person without one', async () => {
    const put = (profile: object) => harness.ingestion.putProfile({ userId: 'roams', ...profile });
    const zoneAfter = async (profile: object) => {
      await put(profile);
      return bodyOf(
        await harness.reads.read({ endpoint: Endpoint.AGGREGATIONS }, await harness.about('roams')),
      ).data.timeZone;
    };
    expect(await zoneAfter({ name: 'Ada', defaultTimeZone: 'Europe/Berlin' })).toBe('Europe/Berlin');
    expect(await zoneAfter({ defaultTimeZone: 'Asia/Tokyo' })).toBe('Europe/Berlin');
    expect(await zoneAfter({ timeZone: 'America/New_York', defaultTimeZone: 'Asia/Tokyo' })).toBe(
      'America/New_York',
    );
    expect(await zoneAfter({ timeZone: '' })).toBe('UTC');
    expect(await zoneAfter({ defaultTimeZone: 'Asia/Tokyo' })).toBe('Asia/Tokyo');
    const refusal = await refusalOf(put({ defaultTimeZone: 'Mars/Olympus' }));
    expect(refusal.violations.map(({ parameter }) => parameter)).toEqual(['defaultTimeZone']);
  });

  describe('a date beside an instant is compared by its midnight in the zone', () => {
    const morning = { from: '2026-01-02', to: '2026-01-01T23:00:00Z' };
    const lateEvening = { from: '2026-01-01T12:00:00Z', to: '2026-01-02' };
    const aggregate = async (query: object) =>
      bodyOf(
        await harness.reads.read(
          { endpoint: Endpoint.AGGREGATIONS, parameters: query },
          await harness.about('islander'),
        ),
      ).data;
    const trend = async (query: object) =>
      bodyOf(
        await harness.reads.read(
          { endpoint: Endpoint.TRENDS, parameters: query },
          await harness.about('islander'),
        ),
      ).data;

    beforeAll(async () => {
      await harness.ingestion.putProfile({ userId: 'islander', timeZone: 'Pacific/Apia' });
      await harness.putReadings('islander', [reading('Steps', '2026-01-01T12:00:00Z', 60)]);
    });

    test("whether the zone is the user's or the request's", async () => {
      expect(await aggregate(morning)).toMatchObject({
        from: '2026-01-01T11:00:00.000Z',
        metrics: [{ sum: 60 }],
      });
      expect(await trend(morning)).toMatchObject([{ value: 60 }]);
      expect(await trend({ ...lateEvening, timeZone: 'UTC' })).toMatchObject([{ value: 60 }]);
    });

    test.each([
      ['aggregations', () => aggregate(lateEvening)],
      ['trends', () => trend(lateEvening)],
      ['a zone of the request', () => aggregate({ ...morning, timeZone: 'UTC' })],
    ])('and refused by name if it ends before it starts there: %s', async (_name, answer) => {
      const refusal = await refusalOf(answer());
      expect(refusal.violations).toEqual([{ parameter: 'from', message: 'must be before to' }]);
    });

    test('for lists of readings a date means midnight UTC', async () => {
      const list = async (query: object) =>
        harness.reads.read(
          { endpoint: Endpoint.HEALTH_DATA, category: 'activity', parameters: query },
          await harness.about('islander'),
        );
      expect(bodyOf(await list(lateEvening)).data).toHaveLength(1);
      expect((await refusalOf(list(morning))).violations[0]?.parameter).toBe('from');
    });
  });
});

describe('the ends of the calendar', () => {
  const USER = 'ends of the calendar';

  beforeAll(async () => {
    const moment = at('2025-06-01T10:00:00Z');
    await harness.putReadings(USER, [reading('Weight', '2025-06-01T10:00:00Z', 80)]);
    await harness.putHealthRecords(USER, [
      {
        key: 's',
        source: 'ehr',
        record: { case: 'symptom', value: { description: 'A', timestamp: moment } },
      },
      {
        key: 'e',
        source: 'ehr',
        record: {
          case: 'ehrRecord',
          value: { resourceType: 'Observation', summary: 'A', timestamp: moment },
        },
      },
      { key: 'c', source: 'ehr', record: { case: 'condition', value: { name: 'A', sinceDate: '2020' } } },
    ]);
  });

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
});
