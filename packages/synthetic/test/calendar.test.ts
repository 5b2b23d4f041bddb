import { describe, expect, test } from '@jest/globals';
import {
  dayOf,
  formatDay,
  formatInstant,
  HOUR_MS,
  parseDay,
  startOfDay,
  weekdayOf,
} from '../src/calendar.ts';

const start = (date: string, zone: string) => new Date(startOfDay(parseDay(date) ?? 0, zone)).toISOString();
const hours = (date: string, zone: string) => {
  const day = parseDay(date) ?? 0;
  return (startOfDay(day + 1, zone) - startOfDay(day, zone)) / HOUR_MS;
};

describe('local days', () => {
  test.each([
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
    ['2025-12-31', 'Europe/Berlin', '2025-12-30T23:00:00.000Z'],
    ['2026-03-30', 'America/New_York', '2026-03-30T04:00:00.000Z'],
    // No midnight: the day starts at 01:00.
    ['2026-03-08', 'America/Havana', '2026-03-08T05:00:00.000Z'],
    // Two midnights: the day starts with the first.
    ['2026-11-01', 'America/Havana', '2026-11-01T04:00:00.000Z'],
    ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00.000Z'],
  ])('%s in %s starts at %s', (date, zone, instant) => {
    expect(start(date, zone)).toBe(instant);
  });

  test.each([
    ['2026-03-28', 'Europe/Berlin', 24],
    ['2026-03-29', 'Europe/Berlin', 23],
    ['2026-10-25', 'Europe/Berlin', 25],
    ['2026-04-05', 'Australia/Lord_Howe', 24.5],
    ['2026-03-08', 'America/Havana', 23],
    ['2026-11-01', 'America/Havana', 25],
  ])('%s in %s has %s hours', (date, zone, count) => {
    expect(hours(date, zone)).toBe(count);
  });

  test('every instant belongs to one local day', () => {
    const day = (instant: string, zone: string) => formatDay(dayOf(Date.parse(instant), zone));
    expect(day('2026-03-30T03:59:00Z', 'America/New_York')).toBe('2026-03-29');
    expect(day('2026-03-30T04:00:00Z', 'America/New_York')).toBe('2026-03-30');
    expect(weekdayOf(parseDay('2026-03-29') ?? 0)).toBe(0);
    expect(weekdayOf(parseDay('1969-12-31') ?? 0)).toBe(3);
  });

  test.each(['2026-02-30', '2026-13-01', '2026-2-3', 'today', ''])('%j is none', (text) => {
    expect(parseDay(text)).toBeNull();
  });
});

test('times are formatted with the offset of their zone', () => {
  const noon = Date.parse('2026-07-01T12:00:00Z');
  expect(formatInstant(noon, 'Europe/Berlin')).toBe('2026-07-01T14:00:00+02:00');
  expect(formatInstant(noon, 'America/New_York')).toBe('2026-07-01T08:00:00-04:00');
  expect(formatInstant(noon, 'Asia/Kathmandu')).toBe('2026-07-01T17:45:00+05:45');
});
