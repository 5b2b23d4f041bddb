import { describe, expect, test } from '@jest/globals';
import { coverDays, coverHoursOf } from '../src/domain/day-cover.ts';
import { coverByReadings, coverByRollups, type SummaryCover } from '../src/domain/summary-cover.ts';
import type { Range } from '../src/domain/window.ts';

const toRange = (from: string | null, to: string | null): Range => ({
  from: from === null ? null : new Date(from),
  to: to === null ? null : new Date(to),
});

const toText = (at: Date | null) => (at === null ? '…' : at.toISOString().replace(/(T00:00)?:00.000Z$/, ''));
const show = ({ from, to }: Range) => `${toText(from)} ${toText(to)}`;

function showCover({ readings, hours, spans }: SummaryCover) {
  return {
    readings: readings.map((part) => `${part.by} ${show(part)}`),
    hours: hours.map((part) => `${part.by} ${show(part)}`),
    spans: spans.map((part) => `${part.by} ${part.span} ${show(part)}`),
  };
}

const BOTH = ['start', 'end'] as const;

describe('the cover of a summary', () => {
  test('everything is years', () => {
    const window = { range: toRange(null, null), since: null };
    expect(showCover(coverByRollups(window, 'Europe/Berlin', BOTH))).toEqual({
      readings: [],
      hours: [],
      spans: ['start year … …', 'end year … …'],
    });
  });

  test('days that a window cuts use hourly rollups for whole hours, but readings for nights', () => {
    const window = { range: toRange('2025-01-01T10:20:00Z', '2025-01-03T20:40:00Z'), since: null };
    expect(showCover(coverByRollups(window, 'Europe/Berlin', BOTH))).toEqual({
      readings: [
        'start 2025-01-01T10:20 2025-01-01T11:00',
        'start 2025-01-03T20:00 2025-01-03T20:40',
        'end 2025-01-01T10:20 2025-01-01T23:00',
        'end 2025-01-02T23:00 2025-01-03T20:40',
      ],
      hours: ['start 2025-01-01T11:00 2025-01-01T23:00', 'start 2025-01-02T23:00 2025-01-03T20:00'],
      spans: ['start day 2025-01-02 2025-01-03', 'end day 2025-01-02 2025-01-03'],
    });
  });

  test('nights that may cross the first day of a grant use readings; the spans of both start together', () => {
    const window = { range: toRange(null, null), since: new Date('2024-12-30T23:00:00Z') };
    expect(showCover(coverByRollups(window, 'Europe/Berlin', BOTH))).toEqual({
      readings: ['end 2024-12-30T23:00 2024-12-31T23:00'],
      hours: [],
      spans: ['start day 2024-12-31 2025-01-01', 'start year 2025-01-01 …', 'end year 2025-01-01 …'],
    });
    // A day of 23 hours is not enough: a night that started before it may end in the next day.
    const spring = { range: toRange(null, null), since: new Date('2025-03-29T23:00:00Z') };
    expect(showCover(coverByRollups(spring, 'Europe/Berlin', ['end']))).toMatchObject({
      readings: ['end 2025-03-29T23:00 2025-03-30T23:00', 'end 2025-03-30T23:00 2025-03-31T22:00'],
    });
  });

  test("a window a day after the grant's first day is not affected by it", () => {
    const since = new Date('2025-01-01T00:00:00Z');
    const window = { range: toRange('2025-01-02', '2025-02-01'), since };
    expect(showCover(coverByRollups(window, 'UTC', BOTH))).toMatchObject({
      readings: [],
      spans: ['start day 2025-01-02 2025-02-01', 'end day 2025-01-02 2025-02-01'],
    });
  });

  test("a window before the grant's first day is empty", () => {
    const window = { range: toRange(null, '2024-01-01'), since: new Date('2025-01-01T00:00:00Z') };
    const { hours, spans, readings } = coverByRollups(window, 'UTC', BOTH);
    expect([hours, spans]).toEqual([[], []]);
    expect(readings.every(({ from, to }) => from !== null && to !== null && from >= to)).toBe(true);
  });

  test('without rollups it is one span of readings', () => {
    const window = { range: toRange('2024-01-01', null), since: new Date('2025-01-01T00:00:00Z') };
    expect(showCover(coverByReadings(window, BOTH))).toEqual({
      readings: ['start 2025-01-01 …', 'end 2025-01-01 …'],
      hours: [],
      spans: [],
    });
  });
});

describe('hours of a zone', () => {
  test.each([
    ['UTC', '2025-01-01T10:20:00Z', '2025-01-01T12:00:00Z', '2025-01-01T11:00 2025-01-01T12:00'],
    ['Asia/Kolkata', '2025-01-01T10:20:00Z', '2025-01-01T12:00:00Z', '2025-01-01T10:30 2025-01-01T11:30'],
    ['UTC', '2025-01-01T10:20:00Z', '2025-01-01T11:10:00Z', null],
    // The clock goes back by half an hour at 15:00.
    ['Australia/Lord_Howe', '2025-04-05T14:20:00Z', '2025-04-05T18:00:00Z', null],
    [
      'Australia/Lord_Howe',
      '2025-04-05T12:20:00Z',
      '2025-04-05T18:00:00Z',
      '2025-04-05T13:00 2025-04-05T17:30',
    ],
  ])('in %s from %s to %s are %s', (zone, from, to, hours) => {
    const cover = coverHoursOf(toRange(from, to), zone);
    expect(cover.hours && show(cover.hours)).toBe(hours);
  });
});

test("a midnight that a clock change repeated, as once in St. John's, is not used as a boundary", () => {
  const zone = 'America/St_Johns';
  // On 2006-10-29 the clock went from 00:01 back to 23:01 of the day before.
  const { edges, days } = coverDays(toRange('2006-10-29T02:30:00Z', '2006-11-02T03:30:00Z'), zone);
  expect(days && show(days)).toBe('2006-10-30 2006-11-02');
  expect(edges.map(show)).toEqual(['2006-10-29T02:30 2006-10-30T03:30']);
});
