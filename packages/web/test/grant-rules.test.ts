import { describe, expect, test } from '@jest/globals';
import { findDaysLeft, isUnused } from '../src/pages/apps/grant-rules.ts';

/** An instant by the clock on the wall, in whichever zone this runs. */
function local(month: number, day: number, hour = 12, minute = 0): string {
  return new Date(2026, month - 1, day, hour, minute).toISOString();
}

const at = (instant: string) => Date.parse(instant);
const NOON = local(6, 10);

describe('the days until sharing ends', () => {
  const left = (expiresAt: string, now = NOON) => findDaysLeft({ status: 'active', expiresAt }, at(now));

  test.each([
    ['later today', local(6, 10, 18), 0],
    ['at midnight, so that today is the last day', local(6, 11, 0), 0],
    ['a minute after midnight', local(6, 11, 0, 1), 1],
    ['in five days, earlier in the day', local(6, 15, 8), 5],
    ['in five days, later in the day', local(6, 15, 20), 5],
    ['in 14 days', local(6, 24, 23), 14],
    ['in 15 days', local(6, 25, 1), null],
    ['now', NOON, null],
    ['before now', local(6, 9), null],
  ])('of sharing that ends %s are counted by the calendar', (_when, expiresAt, days) => {
    expect(left(expiresAt)).toBe(days);
  });

  test('are the same from the first to the last minute of a day', () => {
    const end = local(6, 15);
    expect([left(end, local(6, 10, 0, 1)), left(end, local(6, 10, 23, 59))]).toEqual([5, 5]);
  });

  test.each(['revoked', 'expired'] as const)('are not counted for %s sharing', (status) => {
    expect(findDaysLeft({ status, expiresAt: local(6, 12) }, at(NOON))).toBeNull();
  });
});

describe('an app that no longer reads', () => {
  const DAY_MS = 86_400_000;
  const ago = (days: number, ms = 0) => new Date(at(NOON) - days * DAY_MS + ms).toISOString();
  const judge = (grantedAt: string, lastAccessAt: string | null, status: 'active' | 'revoked' = 'active') =>
    isUnused({ status, grantedAt, lastAccessAt }, at(NOON));

  test('has read nothing for 60 days', () => {
    expect([judge(ago(300), ago(60)), judge(ago(300), ago(60, 1))]).toEqual([true, false]);
  });

  test('or has read nothing at all in its first 30 days', () => {
    expect([judge(ago(30), null), judge(ago(30, 1), null)]).toEqual([true, false]);
  });

  test('is not one that cannot read any more', () => {
    expect(judge(ago(300), null, 'revoked')).toBe(false);
  });
});
