import { beforeAll, expect, test } from '@jest/globals';
import { chooseFaults, FAULTS, SHORT_FAULTS } from '../src/faults/catalogue.ts';
import { runSuite, summarize, toLines, type Verdict } from '../src/suite.ts';

const FAULT_MS = 4_000;
// The promises are tested here, not the speed: a machine that runs other tests may need several times as long.
const RECOVERY_MS = 90_000;
const LIMIT_MS = 900_000;

let verdicts: Verdict[];

beforeAll(async () => {
  const faults = chooseFaults([], true);
  verdicts = await runSuite({
    faults,
    milliseconds: FAULT_MS,
    recoveryMs: RECOVERY_MS,
    print: () => undefined,
  });
}, LIMIT_MS);

test('no promise is broken by any fault of the short run', () => {
  // On failure, the lines explain more than the sentences.
  expect(verdicts.filter(({ violations }) => violations.length > 0).flatMap(toLines)).toEqual([]);
});

test('the run is large enough to be meaningful', () => {
  const { trials, firstTrials, released } = summarize(verdicts);
  expect(trials).toBeGreaterThan(500);
  expect(firstTrials).toBeGreaterThan(50);
  expect(released).toBeGreaterThan(50);
  for (const { chain } of verdicts) expect(chain).toMatch(/Nothing was changed/);
});

test('there are at least 24 faults with distinct names, and the short run refers to existing ones', () => {
  const names = FAULTS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(24);
  expect(names).toEqual(expect.arrayContaining([...SHORT_FAULTS]));
});
