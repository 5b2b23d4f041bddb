import { expect, test } from '@jest/globals';
import { shortenRules } from '../src/alerts/prove/prometheus.ts';
import { readRuleFile } from '../src/alerts/rule-files.ts';

test('durations and ages are divided by the factor; everything else stays', () => {
  const rule = {
    alert: 'A',
    expr: 'increase(a[5m] offset 1h) > 3 and age > 10 * 60 and ratio > 14.4 * 0.001',
    for: '2m',
    labels: {},
    annotations: {},
  };
  expect(shortenRules({ groups: [{ name: 'g', rules: [rule] }] }, 20).groups[0]?.rules).toEqual([
    {
      ...rule,
      expr: 'increase(a[15000ms] offset 180000ms) > 3 and age > 10 * 3 and ratio > 14.4 * 0.001',
      for: '6000ms',
    },
  ]);
});

test('every duration of the rules can be shortened', () => {
  const { groups } = shortenRules(readRuleFile(), 20);
  expect(JSON.stringify(groups)).not.toMatch(/\d[smhd]\]|offset \d+[smhd]\b|\* 60\b/);
});
