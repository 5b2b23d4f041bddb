import fc from 'fast-check';
import { type History, histories } from './history.ts';
import type { Violation } from './oracle.ts';
import { simulate } from './simulation.ts';
import { BROKEN_VARIANTS, type VariantName } from './variants.ts';

export interface CheckOptions {
  /** null is the protocol as it is meant. */
  readonly variant: VariantName | null;
  readonly runs: number;
  readonly seed: number;
  /** Of a counterexample that was reported: plays that one alone. */
  readonly path?: string;
}

export interface CheckResult {
  /** Histories that were played before the search for a smaller counterexample began. */
  readonly runs: number;
  /** Sums over the histories that were played. */
  readonly requests: number;
  readonly released: number;
  readonly startedAfterRevocation: number;
  readonly counterexample: Counterexample | null;
}

export interface Counterexample {
  readonly history: History;
  readonly violations: readonly Violation[];
  /** For people: how to play it again, what it breaks, what happened in which order. */
  readonly report: string;
}

/** What counts: of the protocol as it is meant everything, of a variant what it is known to break. */
function findBreaks(violations: readonly Violation[], variant: VariantName | null): readonly Violation[] {
  if (variant === null) return violations;
  const breaks: readonly string[] = BROKEN_VARIANTS[variant].breaks;
  return violations.filter(({ rule }) => breaks.includes(rule));
}

class BrokenPromise extends Error {}

/** Plays random histories until one breaks a promise, and makes that one small. The same options give the same result. */
export function check({ variant, runs, seed, path }: CheckOptions): CheckResult {
  const sums = { requests: 0, released: 0, startedAfterRevocation: 0 };
  const property = fc.property(histories, (history) => {
    const run = simulate(history, variant);
    sums.requests += run.requests;
    sums.released += run.released;
    sums.startedAfterRevocation += run.startedAfterRevocation;
    if (findBreaks(run.violations, variant).length > 0) throw new BrokenPromise();
  });
  const details = fc.check(property, { numRuns: runs, seed, ...(path === undefined ? {} : { path }) });
  if (!details.failed) return { runs: details.numRuns, ...sums, counterexample: null };
  // Anything else is a mistake of the model, not of the protocol.
  if (!(details.errorInstance instanceof BrokenPromise)) throw details.errorInstance;
  const [history] = details.counterexample ?? [];
  if (history === undefined) throw new Error('a failed check has a counterexample');
  const timeline: string[] = [];
  const { violations } = simulate(history, variant, timeline);
  const report = [
    `Variant: ${variant ?? 'none'}; seed ${seed}, path "${details.counterexamplePath ?? ''}"`,
    ...violations.map(({ rule, request, because }) => `${rule}: ${request}: ${because}`),
    `History: ${JSON.stringify(history)}`,
    ...timeline,
  ].join('\n');
  return { runs: details.numRuns, ...sums, counterexample: { history, violations, report } };
}
