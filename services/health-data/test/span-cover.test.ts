import { describe, expect, test } from '@jest/globals';
import { localDate, startOfDay } from '@phds/catalog/local-time';
import { coverDays } from '../src/domain/day-cover.ts';
import { coverHours, coverSpans, type SpanRange } from '../src/domain/span-cover.ts';
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
