import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { METRICS, type MetricKey } from '@phds/catalog/metrics';
import { dayOf, hourAt } from './reference/clock.ts';
import { ComparedPerson } from './reference/compared-person.ts';
import { NOW } from './reference/moments.ts';
import type { Sent } from './reference/person.ts';
import { openPorts, type Ports } from './reference/ports.ts';
import { questionnaire, request } from './reference/questionnaire.ts';
import type { Request } from './reference/request.ts';

let ports: Ports;
beforeAll(async () => {
  ports = await openPorts(NOW);
});
afterAll(async () => ports[Symbol.asyncDispose]());

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

async function askAll(
  compared: ComparedPerson,
  types: readonly MetricKey[],
  bounds: readonly string[],
  zone: string,
) {
  const subject = {
    zone,
    types,
    categories: ['heart', 'activity', 'sleep'] as const,
    bounds,
    beginnings: bounds,
  };
  await Promise.all(questionnaire(subject).map((asked) => ask(compared, asked)));
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

test('an ECG without a heart rate is listed and never summarised', async () => {
  const compared = new ComparedPerson(ports, 'ecg');
  await compared.put([sent('ecg', '2026-01-02T10:00:00Z', null)]);
  expect((await ask(compared, request('health-data', { category: 'heart' }))).data).toMatchObject([
    { value: null },
  ]);
  expect((await ask(compared, request('aggregations'))).data.metrics).toEqual([]);
  expect((await ask(compared, request('trends'))).pagination.total).toBe(0);
  await compared.put([sent('ecg', '2026-01-02T10:00:00Z', 70), sent('ecg', '2026-01-02T11:00:00Z', null)]);
  expect((await ask(compared, request('aggregations'))).data.metrics).toMatchObject([{ count: 1, sum: 70 }]);
  await compared.put([sent('ecg', '2026-01-02T10:00:00Z', null)]);
  await askAll(compared, ['ecg'], ['2026-01-02'], 'Europe/Berlin');
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

/** From three hours before a day to three hours after it: one device every quarter of an hour, another occasionally, and nights. */
function around(date: string, zone: string): Sent[] {
  const { start, end } = dayOf(date, zone);
  const from = start - 3 * HOUR;
  const quarters = Array.from(
    { length: (end + 3 * HOUR - from) / QUARTER },
    (_, index) => from + index * QUARTER,
  );
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

test.each([
  ['Europe/Berlin', '2025-03-30', 23],
  ['Europe/Berlin', '2025-10-26', 25],
  ['America/New_York', '2025-03-09', 23],
  ['America/New_York', '2025-11-02', 25],
  ['America/Havana', '2025-03-09', 23],
  ['America/Havana', '2025-11-02', 25],
  ['Asia/Beirut', '2025-03-30', 23],
  ['Asia/Beirut', '2025-10-25', 25],
  ['Africa/Cairo', '2025-04-25', 23],
  ['Africa/Cairo', '2025-10-30', 25],
  ['America/Santiago', '2025-09-07', 23],
  ['America/Santiago', '2025-04-05', 25],
  ['Atlantic/Azores', '2025-03-30', 23],
  ['Atlantic/Azores', '2025-10-26', 25],
  ['Australia/Lord_Howe', '2025-10-05', 23.5],
  ['Australia/Lord_Howe', '2025-04-06', 24.5],
  ['Pacific/Chatham', '2025-09-28', 23],
  ['Pacific/Chatham', '2025-04-06', 25],
  ['Antarctica/Troll', '2025-03-30', 22],
  ['Antarctica/Troll', '2025-10-26', 26],
  ['Asia/Kathmandu', '2025-06-01', 24],
  // The following day was skipped.
  ['Pacific/Apia', '2011-12-29', 24],
  ['Pacific/Apia', '2011-12-31', 24],
  ['Europe/Berlin', '2024-02-29', 24],
  ['UTC', '2024-02-29', 24],
  ['Pacific/Kiritimati', '2024-12-31', 24],
  ['Pacific/Pago_Pago', '2025-01-01', 24],
])('in %s, the day %s has %d hours, and every read of it is correct', async (zone, date, hours) => {
  const { start, end } = dayOf(date, zone);
  expect((end - start) / HOUR).toBe(hours);
  const compared = new ComparedPerson(ports, `${zone} ${date}`);
  await compared.move(zone);
  await compared.put(around(date, zone));
  const day = compared.expect(
    request('trends', { type: 'heart-rate', from: date, to: new Date(end).toISOString() }),
  );
  expect(day).toMatchObject({ data: [{ count: hours * 4 }], pagination: { total: 1 } });
  const next = new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);
  const noon = new Date(start + 12 * HOUR + 1).toISOString();
  const requests = questionnaire({
    zone: 'Asia/Kathmandu',
    types: ['steps', 'sleep'],
    categories: ['activity'],
    bounds: [date, next],
    beginnings: [date, next],
  });
  requests.push(request('trends', { bucket: 'hour', from: noon }), request('aggregations', { to: noon }));
  const answers = await Promise.all(requests.map((asked) => compared.read(asked)));
  for (const { about, served, expected } of answers) expect([about, served]).toEqual([about, expected]);
});

test.each([
  ['Europe/Berlin', '2025-10-26T00:59:59.999Z', '2025-10-26T00:00Z', '2025-10-26T01:00Z'],
  ['Europe/Berlin', '2025-10-26T01:00:00Z', '2025-10-26T01:00Z', '2025-10-26T02:00Z'],
  ['Asia/Kathmandu', '2025-06-01T10:00:00Z', '2025-06-01T09:15Z', '2025-06-01T10:15Z'],
  ['Australia/Lord_Howe', '2025-04-05T14:59:00Z', '2025-04-05T14:00Z', '2025-04-05T15:00Z'],
  ['Australia/Lord_Howe', '2025-04-05T15:00:00Z', '2025-04-05T15:00Z', '2025-04-05T15:30Z'],
  ['Australia/Lord_Howe', '2025-10-04T15:29:59Z', '2025-10-04T14:30Z', '2025-10-04T15:30Z'],
  ['Australia/Lord_Howe', '2025-10-04T15:30:00Z', '2025-10-04T15:30Z', '2025-10-04T16:00Z'],
])('the reference itself: in %s, %s is in the hour from %s to %s', (zone, moment, start, end) => {
  expect(hourAt(Date.parse(moment), zone)).toEqual({ start: Date.parse(start), end: Date.parse(end) });
});
