import { expect, test } from '@jest/globals';
import { type KindRounds, reportInterleaved } from '../src/interleaved.ts';
import type { Round } from '../src/measure.ts';
import type { Options } from '../src/options.ts';

const SETTINGS = { commit: 'abc', kinds: ['refresh'], loads: [[0.5], [2]] } as unknown as Options & {
  loads: number[][];
};

function round(perSecond: number, cpu: Record<string, number>, failures = 0): Round {
  return { requests: 1_000, perSecond, p50: 1, p99: 2, max: 3, failures, cpu };
}

function toMeasured(failures = 0): KindRounds[] {
  const rounds = [100, 200, 400].map((perSecond) => ({
    before: round(100, { gateway: 1, postgres: 1 }),
    after: round(perSecond, { gateway: 0.1, postgres: perSecond / 1_000 }, failures),
  }));
  return [{ kind: 'refresh', rounds }];
}

test('names the medians, the ratios with their range, and the CPU of each process', () => {
  const report = reportInterleaved(toMeasured(), SETTINGS);
  expect(report).toContain(
    '| refresh | after | 200 | 2.000 (1.000–4.000) | 1 | 2 | 300 | 0.150 (0.100–0.250) | 100 | 200 |',
  );
  expect(report).toContain('after each kind: 0.5, 2.0');
  expect(report).toContain('no failed request');
});

test('is void with one failed request', () => {
  expect(reportInterleaved(toMeasured(1), SETTINGS)).toContain('VOID: 3 failed requests');
});
