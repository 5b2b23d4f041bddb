import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { check } from '../src/check.ts';
import { histories } from '../src/history.ts';
import { simulate } from '../src/simulation.ts';

describe('the protocol', () => {
  test('keeps every promise in 6000 histories of crashes, lost, doubled and late messages and wrong clocks', () => {
    const result = check({ variant: null, runs: 6000, seed: 20_260 });
    // The report of a counterexample tells how to play it again.
    expect(result.counterexample?.report ?? 'no counterexample').toBe('no counterexample');
    expect(result.runs).toBe(6000);
    // They would prove nothing if nothing was ever released, or nothing asked for after a revocation.
    expect(result.released).toBeGreaterThan(5000);
    expect(result.startedAfterRevocation).toBeGreaterThan(10_000);
  });

  test('follows from the seed alone', () => {
    for (const history of fc.sample(histories, { numRuns: 50, seed: 7 })) {
      expect(simulate(history).trace).toEqual(simulate(history).trace);
    }
  });

  test('goes through every kind of ending and of refusal', () => {
    const traces = fc
      .sample(histories, { numRuns: 1500, seed: 11 })
      .flatMap((history) => simulate(history).trace);
    const endings = traces.filter((event) => event.kind === 'acknowledged').map(({ ended }) => ended.kind);
    expect([...new Set(endings)].sort()).toEqual(['app', 'app-life', 'family', 'grant', 'scope', 'token']);
    const reasons = new Set(traces.filter((event) => event.kind === 'answered').map(({ reason }) => reason));
    // Refusals by the judgement itself, not only by those who ask first.
    const verdicts = ['token_expired', 'app_not_alive', 'family_revoked', 'token_revoked', 'grant_revoked'];
    for (const verdict of [...verdicts, 'grant_expired', 'scope_withdrawn'])
      expect(reasons).toContain(verdict);
  });
});
