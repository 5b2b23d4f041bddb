import { describe, expect, test } from '@jest/globals';
import { check } from '../src/check.ts';
import { BROKEN_VARIANTS, type VariantName } from '../src/variants.ts';

const RUNS = 10_000;
const SEED = 3;
const names = Object.keys(BROKEN_VARIANTS) as VariantName[];

describe('the simulation catches', () => {
  test.each(names)('%s', (variant) => {
    const { counterexample } = check({ variant, runs: RUNS, seed: SEED });
    const rules = counterexample?.violations.map(({ rule }) => rule) ?? [];
    const { breaks } = BROKEN_VARIANTS[variant];
    expect(rules.filter((rule) => (breaks as readonly string[]).includes(rule))).not.toEqual([]);
  });

  test('and a report says how to play the counterexample again', () => {
    const variant = 'narrowing-not-in-the-ledger';
    const { counterexample } = check({ variant, runs: RUNS, seed: SEED });
    const path = counterexample?.report.match(/path "([^"]*)"/)?.[1] ?? '';
    const again = check({ variant, runs: 1, seed: SEED, path });
    expect(again.counterexample?.history).toEqual(counterexample?.history);
    expect(counterexample?.report).toMatch(/ACKNOWLEDGED[\s\S]*gets DATA/);
  });
});
