import { expect, test } from '@jest/globals';
import { coverDays } from '../src/domain/day-cover.ts';

test("a midnight that a clock change repeated, as once in St. John's, is not used as a boundary", () => {
  const zone = 'America/St_Johns';
  // On 2006-10-29 the clock went from 00:01 back to 23:01 of the day before.
  const [from, to] = [new Date('2006-10-29T02:30:00Z'), new Date('2006-11-02T03:30:00Z')];
  expect(coverDays({ from, to }, zone)).toEqual({
    edges: [{ from, to: new Date('2006-10-30T03:30:00Z') }],
    days: { from: new Date('2006-10-30'), to: new Date('2006-11-02') },
  });
});
