import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { findTimeBound } from '@phds/catalog/instants';
import { offsetMsAt } from '@phds/catalog/local-time';
import { findFirstDay, formatWithOffset, offsetMinutesAt } from '../src/dates.ts';
import { toDates } from '../src/window.ts';

describe('dates', () => {
  test('a partial date means its first day', () => {
    expect(['2019', '2019-05', '2019-05-04'].map(findFirstDay)).toEqual([
      '2019-01-01',
      '2019-05-01',
      '2019-05-04',
    ]);
    expect(['19', '2019-5', '2019-00', '2019-02-30', 'spring'].map(findFirstDay)).toEqual(
      Array(5).fill(null),
    );
  });

  test('an instant within a day rounds up to the next date', () => {
    const window = {
      from: findTimeBound('2026-01-02T00:00:00Z'),
      to: findTimeBound('2026-01-05T00:00:00.001Z'),
    };
    expect(toDates(window)).toEqual({ from: new Date('2026-01-02'), to: new Date('2026-01-06') });
  });
});

test('an instant is written in local time with its offset, and with milliseconds only if they are not zero', () => {
  const at = new Date('2026-01-02T03:04:05.678Z');
  expect(formatWithOffset(at, offsetMinutesAt(at, 'Asia/Kolkata'))).toBe('2026-01-02T08:34:05.678+05:30');
  expect(formatWithOffset(at, -210)).toBe('2026-01-01T23:34:05.678-03:30');
  expect(formatWithOffset(new Date('2026-01-02T03:04:05Z'), 0)).toBe('2026-01-02T03:04:05+00:00');
});

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
  expect(offsetMsAt(at, 'America/Argentina/Buenos_Aires')).toBe(-3 * 3_600_000);
  const atFirst = created.mock.calls.length;
  expect(atFirst).toBeGreaterThan(0);
  for (let n = 1; n <= 2_000; n += 1) {
    const spelling = spell('America/Argentina/Buenos_Aires', n);
    expect(offsetMsAt(at, spelling)).toBe(-3 * 3_600_000);
  }
  expect(created.mock.calls.length).toBe(atFirst);
});

test('an unknown zone name is a RangeError each time', () => {
  for (let i = 0; i < 2; i += 1) expect(() => offsetMsAt(0, 'Mars/Olympus')).toThrow(RangeError);
});
