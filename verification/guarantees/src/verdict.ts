import type { LoadReport } from './load/load.ts';
import { DATA_AFTER_REVOCATION, newTally, type Tally } from './load/tally.ts';

/** The result of one fault. */
export interface Verdict {
  readonly fault: string;
  readonly seconds: number;
  /** Time from the end of the fault until everything worked at every gateway; null if it did not in time. */
  readonly recoveryMs: number | null;
  readonly load: LoadReport;
  /** Readings that importers have written so far, over all faults. */
  readonly imported: number;
  /** Output of `phds records verify`; null when nothing was verified. */
  readonly chain: string | null;
  readonly violations: readonly string[];
}

/** The result of all faults. */
interface Summary {
  readonly faults: number;
  readonly seconds: number;
  readonly trials: number;
  /** Number of trials that got data; must be 0. */
  readonly withData: number;
  readonly firstTrials: number;
  readonly released: number;
  readonly violations: readonly string[];
}

/** The verdict on a fault that could not be caused on this machine. A run that lacks one proves nothing about it. */
export function notRun(fault: string, because: string): Verdict {
  const load = { tally: newTally(), oracle: { requests: 0, released: 0, startedAfterRevocation: 0 } };
  return {
    fault,
    seconds: 0,
    recoveryMs: null,
    load,
    imported: 0,
    chain: null,
    violations: [`not run: ${because}`],
  };
}

/** Combines the verdicts. Each violation names its fault. */
export function summarize(verdicts: readonly Verdict[]): Summary {
  const sum = (of: (verdict: Verdict) => number) => verdicts.reduce((total, each) => total + of(each), 0);
  return {
    faults: verdicts.length,
    seconds: sum(({ seconds }) => seconds),
    trials: sum(({ load }) => load.tally.trials),
    withData: sum(({ load }) => withData(load)),
    firstTrials: sum(({ load }) => load.tally.firstTrials),
    released: sum(({ load }) => load.oracle.released),
    violations: verdicts.flatMap(({ fault, violations }) => violations.map((each) => `${fault}: ${each}`)),
  };
}

/** Formats the verdict as lines of text. */
export function toLines({ load, recoveryMs, imported, chain, violations }: Verdict): string[] {
  const { tally, oracle } = load;
  const holds = (rule: RegExp) => (violations.some((each) => rule.test(each)) ? 'BROKEN' : 'holds ');
  const recovered =
    recoveryMs === null ? 'not in time' : `${(recoveryMs / 1000).toFixed(1)} s after the fault`;
  return [
    `  ${holds(/data after|oracle: (data-after|ended|record-after)/)} no data after an acknowledgement: ${toTrials(tally.trials, withData(load))}`,
    `         ${number(tally.firstTrials)} of them the first at their gateway; the oracle judged ${number(oracle.requests)} requests`,
    `  ${holds(/data-without-record|chain/)} a record for each answer with data: ${number(oracle.released)}; ${chain ?? 'chain not verified'}`,
    `  ${holds(/hang/)} nothing hangs: the slowest took ${(tally.slowestMs / 1000).toFixed(1)} s`,
    `  ${holds(/recovery/)} recovery without manual steps: ${recovered}`,
    `  ${holds(/ended by itself/)} no process ends by itself`,
    `  ${holds(/import:/)} nothing written is lost or doubled: ${number(imported)} readings so far`,
    `  ${holds(/401s differ/)} 401s identical: ${number(tally.reads['401'] ?? 0)}`,
    `  ${holds(/stands in the log/)} no secret logged`,
    ...violations.map((each) => `  VIOLATION ${each}`),
  ];
}

/** Formats the result of the whole run as lines of text. */
export function toSummaryLines(summary: Summary): string[] {
  const { faults, seconds, trials, firstTrials, released, violations } = summary;
  const recorded = violations.some((each) => each.includes('data-without-record')) ? 'not each' : 'each';
  return [
    `${faults} faults in ${(seconds / 60).toFixed(1)} minutes: ${violations.length} violations`,
    `${toTrials(trials, summary.withData)}; ${number(firstTrials)} of them the first at their gateway`,
    `${number(released)} answers with data, ${recorded} with its record`,
    ...violations.map((each) => `VIOLATION ${each}`),
  ];
}

function withData({ tally }: LoadReport): number {
  return tally.violations[DATA_AFTER_REVOCATION]?.count ?? 0;
}

/** Includes the 95 % upper bound of the share that would get data when none of n did (rule of three). */
function toTrials(n: number, data: number): string {
  const bound = n === 0 || data > 0 ? 'no bound' : `upper bound 3/n = ${(3 / n).toExponential(1)}`;
  return `${number(n)} reads that started after one, ${number(data)} with data, ${bound}`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}

/** Prints what happens, each line with its time. */
export class Timeline {
  readonly #print: (line: string) => void;
  readonly #start = performance.now();
  #last: Readonly<Record<string, number>> = {};

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  get seconds(): number {
    return (performance.now() - this.#start) / 1000;
  }

  say(what: string): void {
    this.#print(`  ${this.seconds.toFixed(1).padStart(5)} s  ${what}`);
  }

  /** Prints the reads since the last call. */
  look({ reads, endings, trials }: Tally): void {
    const now = { ...reads, ended: Object.values(endings).reduce((sum, each) => sum + each, 0), trials };
    const since = Object.entries(now)
      .map(([name, value]) => [name, value - (this.#last[name] ?? 0)] as const)
      .filter(([, value]) => value > 0);
    this.#last = now;
    this.say(`    ${since.map(([name, value]) => `${name}: ${value}`).join('  ') || 'nothing'}`);
  }
}
