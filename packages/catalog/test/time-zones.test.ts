import { afterEach, expect, jest, test } from '@jest/globals';
import { TIME_ZONE_NAMES } from '../src/time-zone-names.ts';
import { findTimeZone } from '../src/time-zones.ts';

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

test('every time zone known to JavaScript is found by its name', () => {
  expect(Intl.supportedValuesOf('timeZone').filter((name) => findTimeZone(name) !== name)).toEqual([]);
  expect(TIME_ZONE_NAMES.filter((name) => findTimeZone(name) !== name)).toEqual([]);
});

test('unknown names and other spellings of known ones are decided without calling Intl', () => {
  findTimeZone('Asia/Tokyo');
  const created = jest.spyOn(Intl, 'DateTimeFormat');
  for (const text of ['Asia/Nowhere', 'asia/tokyo', 'ASIA/TOKYO', 'Asia/tokyo', '+09:00']) findTimeZone(text);
  expect(created).not.toHaveBeenCalled();
});
