import { afterEach, expect, jest, test } from '@jest/globals';
import { offsetMsAt } from '@phds/catalog/local-time';
import { haveSameHours } from '../src/domain/time-zone.ts';

afterEach(() => void jest.restoreAllMocks());

/** Capitalises letters of the name according to the bits of `n`. */
function spell(name: string, n: number): string {
  return [...name]
    .map((letter, i) => ((n >> (i % 30)) & 1 ? letter.toUpperCase() : letter.toLowerCase()))
    .join('');
}

test('a zone is resolved once, however often and in whatever case it is named', () => {
  const created = jest.spyOn(Intl, 'DateTimeFormat');
  const at = Date.UTC(2026, 0, 1);
  expect(haveSameHours('America/Argentina/Buenos_Aires', 'Asia/Kolkata')).toBe(false);
  expect(offsetMsAt(at, 'America/Argentina/Buenos_Aires')).toBe(-3 * 3_600_000);
  const atFirst = created.mock.calls.length;
  expect(atFirst).toBeGreaterThan(0);
  for (let n = 1; n <= 2_000; n += 1) {
    const spelling = spell('America/Argentina/Buenos_Aires', n);
    expect(haveSameHours(spelling, 'Asia/Kolkata')).toBe(false);
    expect(offsetMsAt(at, spelling)).toBe(-3 * 3_600_000);
  }
  expect(created.mock.calls.length).toBe(atFirst);
});

test('an unknown zone name is a RangeError each time', () => {
  for (let i = 0; i < 2; i += 1) expect(() => offsetMsAt(0, 'Mars/Olympus')).toThrow(RangeError);
});
