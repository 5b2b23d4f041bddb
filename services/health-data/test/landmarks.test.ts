import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dayOf, hourAt } from './reference/clock.ts';
import { ComparedPerson } from './reference/compared-person.ts';
import { NOW } from './reference/moments.ts';
import type { Sent } from './reference/person.ts';
import { openPorts, type Ports } from './reference/ports.ts';
import { questionnaire, request } from './reference/questionnaire.ts';

let ports: Ports;
beforeAll(async () => {
  ports = await openPorts(NOW);
});
afterAll(async () => ports[Symbol.asyncDispose]());

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
