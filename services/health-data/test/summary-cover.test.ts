import { expect, test } from '@jest/globals';
import { localDate, startOfDay } from '@phds/catalog/local-time';
import { coverDays, coverHoursOf } from '../src/domain/day-cover.ts';

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

test("a midnight that a clock change repeated, as once in St. John's, is not used as a boundary", () => {
  const zone = 'America/St_Johns';
  // On 2006-10-29 the clock went from 00:01 back to 23:01 of the day before.
  const [from, to] = [new Date('2006-10-29T02:30:00Z'), new Date('2006-11-02T03:30:00Z')];
  expect(coverDays({ from, to }, zone)).toEqual({
    edges: [{ from, to: new Date('2006-10-30T03:30:00Z') }],
    days: { from: new Date('2006-10-30'), to: new Date('2006-11-02') },
  });
});

test.each([
  ['UTC', '2025-01-01T10:20:00Z', '2025-01-01T12:00:00Z', ['2025-01-01T11:00Z', '2025-01-01T12:00Z']],
  [
    'Asia/Kolkata',
    '2025-01-01T10:20:00Z',
    '2025-01-01T12:00:00Z',
    ['2025-01-01T10:30Z', '2025-01-01T11:30Z'],
  ],
  ['UTC', '2025-01-01T10:20:00Z', '2025-01-01T11:10:00Z', null],
  // The clock goes back by half an hour at 15:00.
  ['Australia/Lord_Howe', '2025-04-05T14:20:00Z', '2025-04-05T18:00:00Z', null],
])('the whole hours of %s from %s to %s are %j', (zone, from, to, hours) => {
  const [first = '', end = ''] = hours ?? [];
  const expected = hours === null ? null : { from: new Date(first), to: new Date(end) };
  expect(coverHoursOf({ from: new Date(from), to: new Date(to) }, zone).hours).toEqual(expected);
});
