import { expect, test } from '@jest/globals';
import { CAUSES } from '../src/alerts/prove/causes.ts';
import { listAlertRules, readRuleFile } from '../src/alerts/rule-files.ts';

const names = new Set(listAlertRules(readRuleFile()).map(({ alert }) => alert));

test('pnpm prove:alerts has a fault for every alert, and names only alerts that exist', () => {
  expect(new Set(CAUSES.map(({ alert }) => alert))).toEqual(names);
  expect(CAUSES.flatMap(({ also = [] }) => also).filter((name) => !names.has(name))).toEqual([]);
});
