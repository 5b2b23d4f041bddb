import { setTimeout as sleep } from 'node:timers/promises';
import { giveFirstReadings } from '@phds/running-system/ingestion';
import { expectStatus } from '@phds/running-system/partner-app';
import { type ProxiedStack, startProxiedStack } from '@phds/running-system/proxied-stack';
import {
  type ConnectedPerson,
  connectPerson,
  HEART_PATH,
  useEverything,
} from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import { hasBalancer } from './faults/balancer.ts';
import type { Fault } from './faults/fault.ts';
import { LogWatch, verifyChain } from './judge.ts';
import { Importers } from './load/importers.ts';
import type { LoadReport } from './load/load.ts';
import { type LoadProcess, startLoad } from './load/load-process.ts';
import { DATA_AFTER_REVOCATION, newTally, type Tally, toSentences } from './load/reads.ts';

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
    `  ${holds(/proof used/)} a proof works once: ${number(tally.repeats)} requests repeated`,
    `  ${holds(/live token/)} a live token is not refused`,
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
  add({ reads, endings, trials }: Tally): void {
    const now = { ...reads, ended: Object.values(endings).reduce((sum, each) => sum + each, 0), trials };
    const since = Object.entries(now)
      .map(([name, value]) => [name, value - (this.#last[name] ?? 0)] as const)
      .filter(([, value]) => value > 0);
    this.#last = now;
    this.say(`    ${since.map(([name, value]) => `${name}: ${value}`).join('  ') || 'nothing'}`);
  }
}

interface SuiteOptions {
  readonly faults: readonly Fault[];
  /** Duration of each fault. Milliseconds. */
  readonly milliseconds: number;
  /** Maximum time from the end of a fault until everything works again. Default 25 s: gRPC takes 13 s to give up a silent connection. */
  readonly recoveryMs?: number;
  /** Receives the timelines and verdicts, line by line. */
  readonly print: (line: string) => void;
  /** Aborts the run, undoes the current fault and stops everything. */
  readonly signal?: AbortSignal | undefined;
}

const GATEWAYS = 3;
const PEOPLE = 16;
const READERS = 8;
const IMPORTING_USERS = ['importing-1', 'importing-2'];
const TALLY_MS = 2_000;
const WARM_UP = { timeoutMs: 60_000, intervalMs: 250 } as const;
const RECOVERY_MS = 25_000;

interface SuiteRun extends SuiteOptions {
  readonly stack: ProxiedStack;
  readonly load: LoadProcess;
  readonly importers: Importers;
  readonly logs: LogWatch;
  /** A consent that exists during all faults. */
  readonly person: ConnectedPerson;
}

/** Starts everything once and runs one fault after the other. */
export async function runSuite(options: SuiteOptions): Promise<Verdict[]> {
  const { faults, print, signal } = options;
  const say = (line: string) => print(`  ${line}`);
  await using stack = await startProxiedStack({ gateways: GATEWAYS, say, signal });
  const users = Array.from({ length: PEOPLE }, (_, index) => `person-${index + 1}`);
  await giveFirstReadings(stack, users);
  const person = await connectPerson(stack, 'connected');
  await using load = await startLoad({
    gateways: stack.gatewayUrls,
    identityProviderUrl: stack.identityProviderUrl,
    recordsUrl: stack.databases.consent.ownerUrl,
    users,
    readers: READERS,
  });
  print('  until everybody has been around once');
  await load.begin();
  await eventually(async () => sumOf((await load.readTally()).endings) >= PEOPLE, WARM_UP);
  using importers = new Importers(stack, IMPORTING_USERS);
  const run = { ...options, stack, load, importers, person, logs: new LogWatch(stack.logs) };
  const verdicts: Verdict[] = [];
  for (const fault of faults) {
    print(`${fault.name}: ${fault.what}`);
    const isMissing = { Redis: stack.redis.url === null, haproxy: !hasBalancer() };
    if (fault.needs !== undefined && isMissing[fault.needs]) {
      verdicts.push(notRun(fault.name, `there is no ${fault.needs} on this machine`));
      continue;
    }
    const verdict = await runFault(fault, run);
    for (const line of toLines(verdict)) print(line);
    verdicts.push(verdict);
  }
  return verdicts;
}

async function runFault(fault: Fault, run: SuiteRun): Promise<Verdict> {
  const { stack, load, importers, logs, person, milliseconds } = run;
  const ends = countEnds(stack);
  const timeline = new Timeline(run.print);
  timeline.say('steady load');
  await load.begin();
  importers.begin();
  using _adding = addTallies(load, timeline);
  await pause(run, Math.min(2_000, milliseconds / 4));
  timeline.say('the fault begins');
  const violations = await play(fault, run, timeline);
  timeline.say('the fault is over');
  const recovery = await untilWorking(stack, person, run.recoveryMs ?? RECOVERY_MS);
  if (typeof recovery === 'string') violations.push(`no recovery: ${recovery}`);
  else timeline.say('everything works again at every gateway');
  await pause(run, Math.min(1_000, milliseconds / 8));
  const [report, imports] = await Promise.all([load.end(), importers.end()]);
  for (const promise of fault.excuses ?? []) delete report.tally.violations[promise];
  timeline.say('load paused; checking records and logs');
  const chain = await verifyChain(stack);
  if (!chain.ok) violations.push(`chain: ${chain.text}`);
  violations.push(...toSentences(report.tally), ...imports.violations, ...(await logs.findSecrets()));
  violations.push(...findOwnEnds(fault, stack, ends));
  return {
    fault: fault.name,
    seconds: timeline.seconds,
    recoveryMs: typeof recovery === 'number' ? recovery : null,
    load: report,
    imported: imports.acknowledged,
    chain: chain.text,
    violations,
  };
}

/** Runs the fault. Returns an error of the fault itself; throws when the run is aborted. */
async function play(fault: Fault, run: SuiteRun, timeline: Timeline): Promise<string[]> {
  const { stack, load, milliseconds, signal } = run;
  const say = (what: string) => timeline.say(what);
  try {
    await fault.play({ stack, load, milliseconds, say, sleep: (length) => pause(run, length) });
    return [];
  } catch (error) {
    signal?.throwIfAborted();
    return [`the fault itself failed: ${String(error)}`];
  }
}

async function pause({ signal }: SuiteOptions, milliseconds: number): Promise<void> {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
}

function addTallies(load: LoadProcess, timeline: Timeline): Disposable {
  const addTally = () => load.readTally().then((tally) => timeline.add(tally));
  // Failures of the load are reported by its other callers.
  const reading = setInterval(() => void addTally().catch(() => undefined), TALLY_MS);
  return { [Symbol.dispose]: () => clearInterval(reading) };
}

/** Measures the time until every service and every gateway works again, or returns what is still wrong. */
async function untilWorking(
  stack: ProxiedStack,
  person: ConnectedPerson,
  timeoutMs: number,
): Promise<number | string> {
  const started = performance.now();
  const { app, tokens } = person;
  try {
    await eventually(
      async () => {
        for (const gateway of stack.gatewayUrls) {
          expectStatus(200, await app.at(gateway).read(tokens.accessToken, HEART_PATH));
        }
        await useEverything(person);
      },
      { timeoutMs, intervalMs: 200 },
    );
    return performance.now() - started;
  } catch (error) {
    return (error as Error).message;
  }
}

function countEnds({ processes }: ProxiedStack): ReadonlyMap<string, number> {
  return new Map([...processes].map(([name, { uncalledEnds }]) => [name, uncalledEnds.length]));
}

/**
 * One sentence for each process that ended although the fault did not kill it. Running out of memory also ends a process by a
 * signal.
 */
function findOwnEnds(
  { kills }: Fault,
  { processes }: ProxiedStack,
  before: ReadonlyMap<string, number>,
): string[] {
  return [...processes].flatMap(([name, { uncalledEnds }]) =>
    uncalledEnds
      .slice(before.get(name))
      .filter((how) => !(kills === true && how === 'SIGKILL'))
      .map((how) => `${name} ended by itself with ${how}`),
  );
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}
