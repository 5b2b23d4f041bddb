import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withMistake } from '../src/broken-variant.ts';
import { type History, histories } from '../src/history.ts';
import { replay } from '../src/replay.ts';
import { type System, startSystem } from '../src/system.ts';
import { BROKEN_VARIANTS } from '../src/variants.ts';

/** `pnpm prove:protocol` runs many histories, with a new seed each time. */
const HISTORIES = Number(process.env['PROTOCOL_HISTORIES'] ?? 40);
const SEED = Number(process.env['PROTOCOL_SEED'] ?? 1);

/** Histories in which a mistake has to be detected. */
const MOST_SEARCHED = 5_000;

// Time limit for shrinking a failing history.
const SHRINKING_MS = 30_000;
const LIMIT_MS = 180_000 + SHRINKING_MS + HISTORIES * 1_000;

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(async () => system[Symbol.asyncDispose]());

describe('a mistake is detected, and the same history breaks no promise without it:', () => {
  test.each([...BROKEN_VARIANTS])('%s', async (_name, variant) => {
    const { breaks, shownBy } = variant;
    const broken = await withMistake(system.control, variant, () => replay(system, shownBy));
    expect(broken.violations.map(({ rule }) => rule)).toContain(breaks);
    const { violations } = await replay(system, shownBy);
    expect(violations).toEqual([]);
  });
});

// Takes minutes, so it is part of `pnpm prove:protocol` alone.
const searched = process.env['PROTOCOL_HISTORIES'] === undefined ? [] : [...BROKEN_VARIANTS];
for (const [name, variant] of searched) {
  test(
    `random histories detect the mistake ${name}`,
    async () => {
      let isDetected = false;
      const isMissed = async (history: History) => {
        const { violations } = await replay(system, history);
        isDetected = violations.some(({ rule }) => rule === variant.breaks);
        return !isDetected;
      };
      const options = { numRuns: MOST_SEARCHED, seed: SEED, endOnFailure: true };
      const search = () => fc.check(fc.asyncProperty(histories, isMissed), options);
      const { errorInstance } = await withMistake(system.control, variant, search);
      if (!isDetected)
        throw new Error(`not detected in ${MOST_SEARCHED} histories`, { cause: errorInstance });
    },
    MOST_SEARCHED * 1_000,
  );
}

test(
  'random histories break no promise, and are meaningful',
  async () => {
    const sums = { released: 0, startedAfterRevocation: 0 };
    const acknowledged = new Set<string>();
    let givenUpAt = Number.POSITIVE_INFINITY;
    const keepsEveryPromise = async (history: History) => {
      if (performance.now() > givenUpAt) return;
      const { trace, violations, released, startedAfterRevocation } = await replay(system, history);
      sums.released += released;
      sums.startedAfterRevocation += startedAfterRevocation;
      for (const event of trace) if (event.kind === 'acknowledged') acknowledged.add(event.ended.kind);
      if (violations.length === 0) return;
      givenUpAt = Math.min(givenUpAt, performance.now() + SHRINKING_MS);
      throw new Error([...violations, ...trace].map((line) => JSON.stringify(line)).join('\n'));
    };
    await fc.assert(fc.asyncProperty(histories, keepsEveryPromise), { numRuns: HISTORIES, seed: SEED });

    expect(sums.released).toBeGreaterThan(HISTORIES);
    expect(sums.startedAfterRevocation).toBeGreaterThan(HISTORIES);
    const kinds = ['app', 'app-life', 'days', 'family', 'grant', 'scope', 'token'];
    expect([...acknowledged].sort()).toEqual(kinds);
  },
  LIMIT_MS,
);
