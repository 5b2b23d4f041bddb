import { describe, expect, test } from '@jest/globals';
import { roundToDecimals } from '../src/metrics.ts';

describe('roundToDecimals', () => {
  test.each([
    [1.005, 2, 1.01],
    [1.255, 2, 1.26],
    [8.345, 2, 8.35],
    [0.615, 2, 0.62],
    [10.235, 2, 10.24],
    [0.5, 0, 1],
    [1.5, 0, 2],
    [2.5, 0, 3],
    [0.05, 1, 0.1],
    [9.995, 2, 10],
    [99.95, 1, 100],
    [-0.5, 0, -1],
    [-1.005, 2, -1.01],
    [0.49999999999999994, 0, 0],
    [1.0049999999999999, 2, 1.01],
    [1.0049999999999997, 2, 1],
    [168.80253764416227, 1, 168.8],
    [36.6, 2, 36.6],
    [72, 0, 72],
    [1e-7, 2, 0],
    [0.004, 2, 0],
    [0.0049, 2, 0],
    [0.005, 2, 0.01],
    [1e21, 2, 1e21],
    [123456789.125, 2, 123456789.13],
  ])('%p to %p decimals is %p, half away from zero in decimal', (value, decimals, rounded) => {
    expect(roundToDecimals(value, decimals)).toBe(rounded);
  });

  test('never yields a negative zero', () => {
    for (const value of [-0, -0.001, -1e-9, -0.4]) expect(Object.is(roundToDecimals(value, 0), 0)).toBe(true);
  });

  test('changes nothing when repeated, so stored values are stable', () => {
    for (let step = 0; step < 2000; step++) {
      const value = Math.sin(step) * 10 ** (step % 7);
      const rounded = roundToDecimals(value, step % 4);
      expect(roundToDecimals(rounded, step % 4)).toBe(rounded);
      expect(Math.abs(rounded - value)).toBeLessThanOrEqual(0.5 * 10 ** -(step % 4) + 1e-9);
    }
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses %p', (value) => {
    expect(() => roundToDecimals(value, 1)).toThrow(RangeError);
  });

  test.each([-1, 0.5, Number.NaN])('refuses %p decimals', (decimals) => {
    expect(() => roundToDecimals(1.5, decimals)).toThrow(RangeError);
  });
});
