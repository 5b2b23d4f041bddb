import { describe, expect, test } from '@jest/globals';
import { localDate, startOfDay } from '@phds/catalog/local-time';
import { coverDays, coverHoursOf } from '../src/domain/day-cover.ts';
import { coverHours, coverSpans, type SpanRange } from '../src/domain/span-cover.ts';
import { coverByReadings, coverByRollups, type SummaryCover } from '../src/domain/summary-cover.ts';
import type { Range } from '../src/domain/window.ts';

function toRange(from: string | null, to: string | null): Range {
  return { from: from === null ? null : new Date(from), to: to === null ? null : new Date(to) };
}

const toText = (at: Date | null) => (at === null ? '…' : at.toISOString().replace(/(T00:00)?:00.000Z$/, ''));
const show = ({ from, to }: Range) => `${toText(from)} ${toText(to)}`;
const showSpans = (spans: readonly SpanRange[]) => spans.map((run) => `${run.span} ${show(run)}`).join(' | ');

describe('spans', () => {
  test.each([
    [null, null, 'year … …'],
    ['2020-01-01', null, 'year 2020-01-01 …'],
    [null, '2020-03-02', 'year … 2020-01-01 | month 2020-01-01 2020-03-01 | day 2020-03-01 2020-03-02'],
    ['2020-02-28', '2020-03-02', 'day 2020-02-28 2020-03-02'],
    ['2020-01-31', '2020-03-01', 'day 2020-01-31 2020-02-01 | month 2020-02-01 2020-03-01'],
    [
      '2018-11-29',
      '2021-02-03',
      'day 2018-11-29 2018-12-01 | month 2018-12-01 2019-01-01 | year 2019-01-01 2021-01-01 | month 2021-01-01 2021-02-01 | day 2021-02-01 2021-02-03',
    ],
    ['2020-01-01', '2020-01-01', ''],
  ])('from %s to %s the days are covered by %j', (from, to, expected) => {
    expect(showSpans(coverSpans(toRange(from, to), 'day'))).toBe(expected);
  });

  test.each([
    [null, null, 'year … …', []],
    [
      '2020-01-01T22:59:59.999Z',
      '2020-01-02T01:00:00.001Z',
      'hour 2020-01-01T23:00 2020-01-02T01:00',
      ['2020-01-01T22:59:59.999Z 2020-01-01T23:00', '2020-01-02T01:00 2020-01-02T01:00:00.001Z'],
    ],
    ['2020-01-01T22:10:00Z', '2020-01-01T22:20:00Z', '', ['2020-01-01T22:10 2020-01-01T22:20']],
    [
      '2020-01-01T22:10:00Z',
      '2020-01-01T23:20:00Z',
      '',
      ['2020-01-01T22:10 2020-01-01T23:00', '2020-01-01T23:00 2020-01-01T23:20'],
    ],
    ['2019-12-31T22:00:00Z', null, 'hour 2019-12-31T22:00 2020-01-01 | year 2020-01-01 …', []],
  ])('from %s to %s the hours are covered by %j and %j', (from, to, spans, edges) => {
    const cover = coverHours(toRange(from, to));
    expect(showSpans(cover.spans)).toBe(spans);
    expect(cover.edges.map(show)).toEqual(edges);
  });
});

describe('days of a zone', () => {
  test.each([
    ['UTC', null, null, '… …', []],
    ['UTC', '2020-01-01', '2020-01-03', '2020-01-01 2020-01-03', []],
    ['Europe/Berlin', '2020-01-01T23:00:00Z', null, '2020-01-02 …', []],
    ['Europe/Berlin', '2020-01-01', null, '2020-01-02 …', ['2020-01-01 2020-01-01T23:00']],
    ['Asia/Kolkata', null, '2020-01-01T18:45:00Z', '… 2020-01-02', ['2020-01-01T18:30 2020-01-01T18:45']],
    ['UTC', '2020-01-01T01:00:00Z', '2020-01-01T02:00:00Z', null, ['2020-01-01T01:00 2020-01-01T02:00']],
    [
      'UTC',
      '2020-01-01T01:00:00Z',
      '2020-01-02T02:00:00Z',
      null,
      ['2020-01-01T01:00 2020-01-02', '2020-01-02 2020-01-02T02:00'],
    ],
    ['UTC', '0001-01-01', '9999-12-31T12:00:00Z', '… …', []],
    ['UTC', '9999-12-31T12:00:00Z', null, '9000-01-01 …', []],
  ])('in %s, from %s to %s, are %j and %j', (zone, from, to, days, edges) => {
    const cover = coverDays(toRange(from, to), zone);
    expect(cover.days && show(cover.days)).toBe(days);
    expect(cover.edges.map(show)).toEqual(edges);
  });

  test.each(['America/Havana', 'Asia/Beirut', 'Africa/Cairo', 'America/Santiago', 'Australia/Lord_Howe'])(
    'whatever the clocks of %s do, edges and whole days together make up the range',
    (zone) => {
      const first = Date.UTC(2025, 0, 1);
      for (let half = 0; half < 365 * 48; half += 13) {
        const from = new Date(first + half * 1_800_000);
        const to = new Date(from.getTime() + 50 * 3_600_000);
        const { edges, days } = coverDays({ from, to }, zone);
        if (days?.from == null || days.to === null) throw new Error('50 hours hold a whole day');
        const inner = [days.from, days.to].map((date) => startOfDay(date.toISOString().slice(0, 10), zone));
        const pieces = [...edges, { from: inner[0], to: inner[1] }].sort(
          (a, b) => Number(a.from) - Number(b.from),
        );
        expect(pieces[0]?.from).toEqual(from);
        expect(pieces.at(-1)?.to).toEqual(to);
        for (const [index, piece] of pieces.slice(1).entries()) expect(piece.from).toEqual(pieces[index]?.to);
        const lastOfDays = new Date(Number(inner[1]) - 1);
        expect(localDate(lastOfDays, zone) < days.to.toISOString().slice(0, 10)).toBe(true);
      }
    },
  );
});

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
