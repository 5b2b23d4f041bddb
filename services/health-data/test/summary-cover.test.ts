import { expect, test } from '@jest/globals';
import { coverDays, coverHoursOf } from '../src/domain/day-cover.ts';

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
