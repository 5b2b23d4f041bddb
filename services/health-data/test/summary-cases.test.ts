import { expect, test } from '@jest/globals';
import { METRICS, type MetricKey } from '@phds/catalog/metrics';
import { dayOf } from './reference/clock.ts';
import { ComparedPerson } from './reference/compared-person.ts';
import { NOW } from './reference/moments.ts';
import type { Sent } from './reference/person.ts';
import { sharePorts } from './reference/ports.ts';
import { questionnaire, request } from './reference/questionnaire.ts';
import type { Request } from './reference/request.ts';

const ports = await sharePorts(NOW);

function sent(
  type: MetricKey,
  start: string,
  value: number | null,
  rest: { end?: string; source?: string } = {},
): Sent {
  const { end = start, source = 'apple-watch' } = rest;
  return { type, start: Date.parse(start), end: Date.parse(end), value, source };
}

/** The service's response, after checking that it equals the reference's. */
async function ask(compared: ComparedPerson, asked: Request) {
  const { about, served, expected } = await compared.read(asked);
  expect([about, served]).toEqual([about, expected]);
  return JSON.parse(served);
}

/** Every read of some types in the zone of the person and in others. */
async function askAll(
  compared: ComparedPerson,
  types: readonly MetricKey[],
  dates: readonly string[],
  ...zones: readonly (string | null)[]
) {
  const requests = questionnaire({ zones: [null, ...zones], types, bounds: dates, beginnings: dates });
  await Promise.all(requests.map((asked) => ask(compared, asked)));
}

const days = (points: { start: string; value: number }[]) => points.map(({ start, value }) => [start, value]);

test('a traveller: after every move, the same readings belong to the days of the new zone', async () => {
  const compared = new ComparedPerson(ports, 'traveller');
  await compared.put([
    sent('steps', '2025-03-01T23:30:00Z', 100),
    sent('steps', '2025-03-02T05:30:00Z', 200),
    sent('sleep', '2025-03-01T22:00:00Z', 400, { end: '2025-03-02T06:00:00Z' }),
    sent('weight', '2025-03-01T23:30:00Z', 80),
    sent('weight', '2025-03-02T05:30:00Z', 81),
  ]);
  const steps = request('trends', { type: 'steps' });
  expect(days((await ask(compared, steps)).data)).toEqual([
    ['2025-03-02T00:00:00+00:00', 200],
    ['2025-03-01T00:00:00+00:00', 100],
  ]);
  await compared.move('Europe/Berlin');
  expect(days((await ask(compared, steps)).data)).toEqual([['2025-03-02T00:00:00+01:00', 300]]);
  expect((await ask(compared, request('weight'))).data).toMatchObject([{ date: '2025-03-02', weightKg: 81 }]);
  await compared.move('America/New_York');
  expect(days((await ask(compared, steps)).data)).toEqual([
    ['2025-03-02T00:00:00-05:00', 200],
    ['2025-03-01T00:00:00-05:00', 100],
  ]);
  await compared.put([sent('steps', '2025-03-02T04:59:59.999Z', 5)]);
  for (const zone of ['Asia/Tokyo', 'Pacific/Apia', 'America/New_York', 'Asia/Kathmandu']) {
    await compared.move(zone);
    await askAll(compared, ['steps', 'sleep'], ['2025-03-01', '2025-03-02', '2025-03-03'], 'UTC');
  }
});

test('a night across midnight and a clock change counts for the date of waking up', async () => {
  const compared = new ComparedPerson(ports, 'night');
  await compared.move('Europe/Berlin');
  await compared.put([
    // In Berlin from 22:30 to 07:00 with a skipped hour; then a nap, and a night that was an hour longer.
    sent('sleep', '2025-03-29T21:30:00Z', 450, { end: '2025-03-30T05:00:00Z' }),
    sent('sleep', '2025-03-29T21:00:00Z', 460, { end: '2025-03-30T05:10:00Z', source: 'iphone' }),
    sent('sleep', '2025-03-30T12:00:00Z', 20, { end: '2025-03-30T12:20:00Z' }),
    sent('sleep', '2025-10-25T21:00:00Z', 541, { end: '2025-10-26T06:30:00Z' }),
    // To the last instant of a day, and to the first of the next.
    sent('sleep', '2025-06-01T20:00:00Z', 60, { end: '2025-06-01T21:59:59.999Z' }),
    sent('sleep', '2025-06-02T20:00:00Z', 61, { end: '2025-06-02T22:00:00Z' }),
    sent('sleep', '2025-07-01T10:00:00Z', 1440, { end: '2025-07-02T10:00:00Z' }),
  ]);
  expect(days((await ask(compared, request('trends', { type: 'sleep' }))).data)).toEqual([
    ['2025-10-26T00:00:00+02:00', 541],
    ['2025-07-02T00:00:00+02:00', 1440],
    ['2025-06-03T00:00:00+02:00', 61],
    ['2025-06-01T00:00:00+02:00', 60],
    ['2025-03-30T00:00:00+01:00', 470],
  ]);
  const { data } = await ask(compared, request('aggregations', { type: 'sleep' }));
  expect(data.metrics[0].outOfRange).toEqual({ below: 2, above: 2, total: 4 });
  // An app that sees data from the second date on sees no night that started on the first.
  const seen = await ask(compared, request('trends', { type: 'sleep', dataFrom: '2025-10-26' }));
  expect(seen.pagination.total).toBe(0);
  const bounds = ['2025-03-29', '2025-03-30', '2025-03-31', '2025-10-26'];
  await askAll(compared, ['sleep'], bounds, 'America/Havana');
});

test('of two devices the larger counts in each hour; on a tie the first by name; late and deleted readings change that', async () => {
  const compared = new ComparedPerson(ports, 'devices');
  const watch = sent('steps', '2026-01-02T10:10:00Z', 100);
  await compared.put([
    watch,
    sent('steps', '2026-01-02T10:20:00Z', 60, { source: 'iphone' }),
    sent('steps', '2026-01-02T10:40:00Z', 40, { source: 'iphone' }),
    sent('steps', '2026-01-02T11:00:00Z', 7, { source: 'manual' }),
  ]);
  const hours = request('trends', { type: 'steps', bucket: 'hour' });
  const points = async () =>
    (await ask(compared, hours)).data.map(({ count, sum }: { count: number; sum: number }) => [count, sum]);
  expect(await points()).toEqual([
    [1, 7],
    [1, 100],
  ]);
  await compared.put([sent('steps', '2026-01-02T10:59:59.999Z', 1, { source: 'iphone' })]);
  expect((await points())[1]).toEqual([3, 101]);
  await compared.put([{ ...watch, value: 102 }]);
  expect((await points())[1]).toEqual([1, 102]);
  await compared.delete([watch], []);
  expect((await points())[1]).toEqual([3, 101]);
  await compared.delete([], [{ type: 'steps', source: 'iphone', from: null, to: null }]);
  expect(await points()).toEqual([[1, 7]]);
  await askAll(compared, ['steps'], ['2026-01-02', '2026-01-03'], 'Asia/Kathmandu');
});

test('a summary and a point have exactly the documented fields, with one more decimal for the average', async () => {
  const compared = new ComparedPerson(ports, 'exact');
  await compared.put([
    sent('heart-rate', '2026-01-02T10:15:00Z', 40),
    sent('heart-rate', '2026-01-02T10:45:00Z', 41),
    sent('heart-rate', '2026-01-04T10:00:00Z', 131, { source: 'iphone' }),
  ]);
  expect(await ask(compared, request('aggregations'))).toEqual({
    data: {
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
          count: 3,
          latest: { value: 131, timestamp: '2026-01-04T10:00:00.000Z' },
          average: 70.7,
          min: 40,
          max: 131,
          sum: 212,
          referenceRange: { low: 41, high: 130, source: 'NEWS2, Royal College of Physicians 2017' },
          outOfRange: { below: 1, above: 1, total: 2 },
        },
      ],
    },
  });
  const { served } = await compared.read(request('trends', { bucket: 'hour', page: 2, pageSize: 1 }));
  expect(served).toBe(
    '{"data":[{"type":"Heart Rate","bucket":"hour","start":"2026-01-02T10:00:00+00:00","end":"2026-01-02T11:00:00+00:00",' +
      '"unit":"/min","count":2,"value":40.5,"average":40.5,"min":40,"max":41,"sum":81}],' +
      '"pagination":{"page":2,"pageSize":1,"total":2,"totalPages":2}}',
  );
  // A window before the data window of the grant is empty, and never ends before it starts.
  for (const from of ['2026-01-01', null]) {
    const before = request('aggregations', { from, to: '2026-01-10', dataFrom: '2026-02-01' });
    const at = '2026-01-10T00:00:00.000Z';
    expect((await ask(compared, before)).data).toMatchObject({ from: at, to: at, metrics: [] });
  }
});

test.each(METRICS.filter(({ referenceRange }) => referenceRange !== null))(
  'of $name the limits of the range are in range, and the next values are not',
  async ({ key, kind, decimals, referenceRange }) => {
    const compared = new ComparedPerson(ports, `range ${key}`);
    const { low, high } = referenceRange ?? { low: 0, high: 0 };
    const step = 10 ** -decimals;
    const beyond = [low - step, high + step].map((value) => Number(value.toFixed(decimals)));
    const values = [low, high, ...(key === 'spo2' ? beyond.slice(0, 1) : beyond)];
    await compared.put(values.map((value, day) => sent(key, `2026-01-0${day + 1}T10:00:00Z`, value)));
    const { metrics } = (await ask(compared, request('aggregations'))).data;
    const above = key === 'spo2' ? 0 : 1;
    expect(metrics).toMatchObject([
      { basis: kind === 'additive' ? 'day' : 'reading', outOfRange: { below: 1, above, total: 1 + above } },
    ]);
  },
);

test('daily totals of many small values are exact in decimal, without float errors', async () => {
  const compared = new ComparedPerson(ports, 'sums');
  const tenths = (count: number, day: string) =>
    Array.from({ length: count }, (_, index) => {
      const start = new Date(Date.parse(`${day}T05:00:00Z`) + index * 1000).toISOString();
      return sent('sleep', start, 4.2, { end: start });
    });
  await compared.put([
    ...tenths(100, '2026-01-02'),
    ...tenths(99, '2026-01-03'),
    sent('sleep', '2026-01-04T05:00:00Z', 540),
  ]);
  const { metrics } = (await ask(compared, request('aggregations'))).data;
  expect(metrics[0]).toMatchObject({ sum: 1375.8, outOfRange: { below: 1, above: 0, total: 1 } });
});

const QUARTER = 900_000;
const HOUR = 4 * QUARTER;

/** Between two instants: one device every quarter of an hour, another occasionally, and nights. */
function measure(from: number, to: number): Sent[] {
  const quarters = Array.from({ length: (to - from) / QUARTER }, (_, index) => from + index * QUARTER);
  const at = (
    type: Sent['type'],
    moment: number,
    value: number,
    source = 'apple-watch',
    length = 0,
  ): Sent => {
    return { type, start: moment, end: moment + length, source, value };
  };
  return quarters.flatMap((moment, index) => [
    at('steps', moment, 1),
    at('heart-rate', moment, 40 + (index % 100)),
    ...(index % 7 === 0 ? [at('steps', moment, 3, 'iphone'), at('weight', moment, 80 + index / 100)] : []),
    ...(index % 9 === 0 ? [at('sleep', moment, index, 'apple-watch', 8 * HOUR)] : []),
    ...(index % 13 === 0 ? [at('sleep', moment, 2 * index, 'iphone', 24 * HOUR)] : []),
  ]);
}

type DayCase = readonly [zone: string, date: string, hours: number];

const DAYS: readonly DayCase[] = [
  ['Europe/Berlin', '2025-03-30', 23],
  ['America/Havana', '2025-11-02', 25],
  ['America/Santiago', '2025-09-07', 23],
  ['Australia/Lord_Howe', '2025-04-06', 24.5],
  ['Asia/Kathmandu', '2025-06-01', 24],
  // The following day was skipped.
  ['Pacific/Apia', '2011-12-29', 24],
];

/** Like those above. `pnpm prove:summaries` asks about all. */
const FURTHER_DAYS: readonly DayCase[] = [
  ['Europe/Berlin', '2025-10-26', 25],
  ['America/Havana', '2025-03-09', 23],
  ['Australia/Lord_Howe', '2025-10-05', 23.5],
  ['Antarctica/Troll', '2025-10-26', 26],
  ['UTC', '2024-02-29', 24],
  ['Pacific/Kiritimati', '2024-12-31', 24],
];

test.each<DayCase>([...DAYS, ...(process.env['SUMMARY_HISTORIES'] === undefined ? [] : FURTHER_DAYS)])(
  'in %s, the day %s has %d hours, and every read of it is correct, in the own zone and in another',
  async (zone, date, hours) => {
    const { start, end } = dayOf(date, zone);
    expect((end - start) / HOUR).toBe(hours);
    const compared = new ComparedPerson(ports, `${zone} ${date}`);
    await compared.move(zone);
    await compared.put(measure(start - 3 * HOUR, end + 3 * HOUR));
    const day = compared.expect(
      request('trends', { type: 'heart-rate', from: date, to: new Date(end).toISOString() }),
    );
    expect(day).toMatchObject({ data: [{ count: hours * 4 }], pagination: { total: 1 } });
    const next = new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);
    for (const [home, asked] of [
      [zone, null],
      ['UTC', zone],
    ] as const) {
      await compared.move(home);
      const requests = questionnaire({
        zones: [asked],
        types: ['steps', 'sleep'],
        bounds: [date, next],
        beginnings: [date, next],
      });
      const pages = [1, 4, 99].map((page) =>
        request('trends', { bucket: 'hour', timeZone: asked, page, pageSize: 7 }),
      );
      await Promise.all([...requests, ...pages].map((one) => ask(compared, one)));
    }
  },
);

test('of a day or hour that a window or a grant cuts, the part inside counts', async () => {
  const compared = new ComparedPerson(ports, 'cut');
  await compared.move('Europe/Berlin');
  await compared.put(measure(Date.parse('2025-03-28T12:00:00Z'), Date.parse('2025-03-31T06:00:00Z')));
  const whole = questionnaire({
    zones: [null, 'America/New_York', 'Asia/Kathmandu'],
    types: ['steps', 'sleep'],
    // A midnight, within an hour, a full hour, beside the change of the clock, and within a second.
    bounds: [
      '2025-03-28T23:00:00Z',
      '2025-03-29T03:20:00Z',
      '2025-03-29T15:00:00Z',
      '2025-03-30T00:30:00Z',
      '2025-03-31T04:00:00.500Z',
    ],
    beginnings: [],
  });
  const limited = whole.map((asked) => ({ ...asked, dataFrom: '2025-03-30' }));
  await Promise.all([...whole, ...limited].map((asked) => ask(compared, asked)));
});

test.each([
  ['2025-03-30T01:30:00+01:00', '2025-03-30T05:00:00+02:00', 10],
  ['2025-03-30T03:00:00+02:00', '2025-03-30T05:00:00+02:00', 8],
  ['2025-10-26T02:30:00+02:00', '2025-10-26T02:30:00+01:00', 4],
  ['2025-10-26T01:00:00+02:00', '2025-10-26T02:00:00+01:00', 8],
])('on the day of a clock change a point from %s to %s has its own offsets', async (from, to, count) => {
  const compared = new ComparedPerson(ports, `point ${from}`);
  await compared.move('Europe/Berlin');
  await compared.put(measure(Date.parse(from) - HOUR, Date.parse(to) + HOUR));
  const { data } = await ask(compared, request('trends', { type: 'heart-rate', from, to }));
  expect(data).toMatchObject([{ start: from, end: to, count }]);
});

test('a date beside an instant is midnight in the zone of the person or the request, and in UTC for lists', async () => {
  const compared = new ComparedPerson(ports, 'islander');
  await compared.move('Pacific/Apia');
  await compared.put([sent('steps', '2026-01-01T12:00:00Z', 60)]);
  const morning = { from: '2026-01-02', to: '2026-01-01T23:00:00Z' };
  const evening = { from: '2026-01-01T12:00:00Z', to: '2026-01-02' };
  const refused = { refused: ['from'] };
  const steps = { data: [{ value: 60 }] };
  for (const endpoint of ['trends', 'aggregations'] as const) {
    expect(await ask(compared, request(endpoint, evening))).toEqual(refused);
    expect(await ask(compared, request(endpoint, { ...morning, timeZone: 'UTC' }))).toEqual(refused);
  }
  expect(await ask(compared, request('trends', morning))).toMatchObject(steps);
  expect(await ask(compared, request('trends', { ...evening, timeZone: 'UTC' }))).toMatchObject(steps);
  const list = (window: object) => ask(compared, request('health-data', { category: 'activity', ...window }));
  expect(await list(morning)).toEqual(refused);
  expect(await list(evening)).toMatchObject(steps);
});

test.each(['UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
  'in %s, the first and the last of all dates and instants limit readings, summaries and grants',
  async (zone) => {
    const compared = new ComparedPerson(ports, `widest ${zone}`);
    await compared.move(zone);
    await compared.put([sent('weight', '2025-06-01T10:00:00Z', 80)]);
    // Not compared with the reference, whose bounds may lie outside the years 1 to 9999.
    const read = async (asked: Request) => JSON.parse((await compared.read(asked)).served);
    const total = async (reach: object) => {
      const list = await read(request('health-data', { category: 'body-composition', ...reach }));
      const points = await read(request('trends', reach));
      const summary = await read(request('aggregations', reach));
      return [list.pagination.total, points.pagination.total, summary.data.metrics.length];
    };
    for (const [first, last] of [
      ['0001-01-01', '9999-12-31'],
      ['0001-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59'],
    ] as const) {
      expect(await total({ from: first, to: last })).toEqual([1, 1, 1]);
      expect(await total({ from: last })).toEqual([0, 0, 0]);
      expect(await total({ to: first })).toEqual([0, 0, 0]);
    }
    expect(await total({ dataFrom: '0001-01-01' })).toEqual([1, 1, 1]);
    expect(await total({ dataFrom: '9999-12-31' })).toEqual([0, 0, 0]);
  },
);
