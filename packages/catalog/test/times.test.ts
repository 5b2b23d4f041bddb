import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { findTimeBounds, isWithin } from '../src/fhir/dates.ts';
import { findInstant, findTimeBound, isDate, isInverted } from '../src/instants.ts';
import { findTimeZone } from '../src/time-zones.ts';

describe('dates and instants', () => {
  test.each(['2024-02-29', '0001-01-01', '9999-12-31'])('%s is a date', (text) => {
    expect(isDate(text)).toBe(true);
  });

  test.each(['2023-02-29', '2024-13-01', '0000-01-01', '2024-1-1', '20240101', ''])(
    '%j is no date',
    (text) => {
      expect(isDate(text)).toBe(false);
    },
  );

  test.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z', 0],
    ['2026-01-02t03:04:05.6z', '2026-01-02T03:04:05.600Z', 0],
    ['2026-01-02T03:04:05+05:30', '2026-01-01T21:34:05.000Z', 330],
    ['2026-01-02T03:04:05 05:30', '2026-01-01T21:34:05.000Z', 330],
    ['2026-01-02T03:04:05-08:00', '2026-01-02T11:04:05.000Z', -480],
    ['2026-01-02T03:04:05.0000001Z', '2026-01-02T03:04:05.001Z', 0],
  ])('%s is the instant %s', (text, at, offsetMinutes) => {
    expect(findInstant(text)).toEqual({ at: new Date(at), offsetMinutes });
  });

  test.each([
    '2026-01-02T03:04:05',
    '2026-02-30T03:04:05Z',
    '2026-01-02T24:00:00Z',
    '2026-01-02T03:60:00Z',
    '2026-01-02T03:04:05+24:00',
    '2026-01-02 03:04:05Z',
  ])('%s is not an instant', (text) => {
    expect(findInstant(text)).toBeNull();
  });

  test.each<[string, number | null]>([
    ['2026-01-01', Date.UTC(2026, 0, 1)],
    ['2026-01-01T00:00:00Z', Date.UTC(2026, 0, 1)],
    ['2026-01-01T02:00:00 02:00', Date.UTC(2026, 0, 1)],
    ['2026-01-01T02:00:00.5+02:00', Date.UTC(2026, 0, 1) + 500],
    ['2026-02-30', null],
    ['2026-02-30T00:00:00Z', null],
    ['2026-01-01 00:00:00', null],
    ['01.01.2026', null],
  ])('the time bound %s', (text, time) => {
    expect(findTimeBound(text)?.at.getTime() ?? null).toBe(time);
  });

  test('a bound keeps its text, with the + that a query string turned into a space', () => {
    expect(findTimeBound('2026-01-01')).toMatchObject({ text: '2026-01-01', date: '2026-01-01' });
    expect(findTimeBound('2026-01-01T02:00:00 02:00')).toMatchObject({
      text: '2026-01-01T02:00:00+02:00',
      date: null,
    });
  });

  test('a bound whose offset leads out of the years 1 to 9999 is the nearest instant in them', () => {
    expect(findTimeBound('0001-01-01T00:00:00+23:59')?.at).toEqual(new Date('0001-01-01T00:00:00Z'));
    expect(findTimeBound('9999-12-31T23:59:59-23:59')?.at).toEqual(new Date('9999-12-31T00:00:00Z'));
  });

  test.each([
    ['2026-01-01', '2026-01-02', false, false],
    ['2026-01-02', '2026-01-02', true, true],
    ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z', true, true],
    // Where dates are local, a zone decides which of the two is earlier.
    ['2026-01-02', '2026-01-01T20:00:00Z', true, false],
  ])('whether the window from %s to %s is inverted in UTC: %s, and where dates are local: %s', (...row) => {
    const [from, to, inUtc, local] = row;
    const window = { from: findTimeBound(from), to: findTimeBound(to) };
    expect([isInverted(window, false), isInverted(window, true)]).toEqual([inUtc, local]);
    expect(isInverted({ ...window, to: null }, false)).toBe(false);
  });
});

afterEach(() => void jest.restoreAllMocks());

test('time zones are IANA names and nothing else', () => {
  for (const name of [
    'Europe/Berlin',
    'UTC',
    'America/Argentina/Buenos_Aires',
    'Etc/GMT+5',
    'Asia/Calcutta',
  ]) {
    expect(findTimeZone(name)).toBe(name);
  }
  const others = [
    '',
    '+01:00',
    'Nowhere',
    'Europe/Berlin ',
    'x'.repeat(99),
    'constructor',
    'Europe/\u212Aiev',
  ];
  // Abbreviations that Postgres and JavaScript interpret differently.
  const abbreviations = ['CET', 'met', 'AST', 'PST', 'IST', 'NST'];
  for (const text of [...others, ...abbreviations]) expect(findTimeZone(text)).toBeNull();
});

test('a time zone has one spelling, however a caller writes it', () => {
  for (const text of ['Europe/Berlin', 'EUROPE/BERLIN', 'europe/berlin', 'eUrOpE/bErLiN']) {
    expect(findTimeZone(text)).toBe('Europe/Berlin');
  }
});

const SEARCHED = Date.parse('2026-01-02T10:00:00.500Z');

test.each([
  ['eq2026-01-02T10:00:00.500Z', true],
  ['2026-01-02T10:00:00.501Z', false],
  ['2026-01-02T10:00:00Z', true],
  ['2026-01-02T11:00+01:00', true],
  ['2026-01-02T10:00:00', true],
  ['ge2026-01-02T10:01', false],
  ['2026-01', true],
  ['2025', false],
  ['ge2026-01-02T10:00:00.500Z', true],
  ['ge2026-01-02T10:00:00.501Z', false],
  ['gt2026-01-01', true],
  ['gt2026-01-02', false],
  ['le2026-01-02', true],
  ['le2026-01-01', false],
  ['lt2026-01-03', true],
  ['lt2026-01-02T10:00:00.500Z', false],
  ['sa2026-01-01', true],
  ['sa2026', false],
  ['eb2026-01-03', true],
  ['eb2026-01-02', false],
])('date=%s finds an instant: %p', (text, isFound) => {
  const bounds = findTimeBounds(text);
  expect(bounds && isWithin({ start: SEARCHED, end: SEARCHED }, bounds)).toBe(isFound);
});
