import { expect, test } from '@jest/globals';
import { getMetric } from '@phds/catalog/metrics';
import { toStatistics } from '../src/domain/summary.ts';

test.each([
  // 408.9 / 12 is 34.075; float division gives slightly less.
  ['bmi', { count: 12, sum: 408.9, min: 18.5, max: 91 }, 34.08, 408.9],
  ['bmi', { count: 3, sum: 0.1 + 0.2 + 60, min: 0.1, max: 60 }, 20.1, 60.3],
  ['weight', { count: 8, sum: 640.02, min: 80, max: 80.01 }, 80.003, 640.02],
  ['heart-rate', { count: 20, sum: 1201, min: 60, max: 61 }, 60.1, 1201],
  ['steps', { count: 10_000_000, sum: 123_456_789_012, min: 0, max: 1 }, 12345.7, 123_456_789_012],
] as const)('the average of %s over %j is %d, rounded in decimal', (key, raw, average, sum) => {
  expect(toStatistics(getMetric(key), raw)).toMatchObject({ average, sum });
});
