import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { toFakeClockEnvironment } from '../src/fake-system-clock.ts';
import { DATE_SUITES, everyHourOf, TELLING_INSTANTS } from '../src/hours.ts';

const workspace = resolve(import.meta.dirname, '../../..');
const toText = (instant: number) => new Date(instant).toISOString();

describe('the tests that run at other instants', () => {
  test.each(DATE_SUITES.flatMap(({ files }) => files))('%s is a file', (file) => {
    expect(existsSync(join(workspace, file))).toBe(true);
  });
});

describe('the instants', () => {
  test('a day has each of its hours', () => {
    const hours = everyHourOf('2028-02-29').map(toText);
    expect(new Set(hours).size).toBe(24);
    expect([hours[0], hours[23]]).toEqual(['2028-02-29T00:30:00.000Z', '2028-02-29T23:30:00.000Z']);
  });

  test.each(['2027-02-30', '2027-13-01', 'today'])('%j is refused as a day', (day) => {
    expect(() => everyHourOf(day)).toThrow(day);
  });

  test('include every hour of a day, both clock changes, 31 December and 29 February', () => {
    const all = TELLING_INSTANTS.map(toText);
    expect(new Set(all.map((text) => text.slice(11, 13))).size).toBe(24);
    const days = new Set(all.map((text) => text.slice(0, 10)));
    for (const day of ['2027-03-28', '2027-10-31', '2027-12-31', '2028-02-29']) expect(days).toContain(day);
  });
});

describe('the environment of a process', () => {
  test.each([
    [90_000, '+90'],
    [-90_000, '-90'],
  ])('%i ms from now is written as %s seconds', (milliseconds, offset) => {
    expect(
      toFakeClockEnvironment({ waits: '/waits.so', clock: '/clock.so' }, 5_000 + milliseconds, 5_000),
    ).toMatchObject({
      LD_PRELOAD: '/waits.so:/clock.so',
      FAKETIME: offset,
    });
  });
});
