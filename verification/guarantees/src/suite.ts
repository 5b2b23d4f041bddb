import { setTimeout as sleep } from 'node:timers/promises';
import { giveFirstReadings } from '@phds/running-system/ingestion';
import { expectStatus } from '@phds/running-system/partner-app';
import {
  type ConnectedPerson,
  connectPerson,
  HEART_PATH,
  useEverything,
} from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import type { Fault } from './faults/fault.ts';
import { LogWatch, verifyChain } from './judge.ts';
import { Importers } from './load/importers.ts';
import { type LoadProcess, startLoad } from './load/load-process.ts';
import { toSentences } from './load/tally.ts';
import { type ProxiedStack, startProxiedStack } from './proxied-stack.ts';
import { notRun, Timeline, toLines, type Verdict } from './verdict.ts';

export interface SuiteOptions {
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
const LOOK_MS = 2_000;
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
  await eventually(async () => sumOf((await load.look()).endings) >= PEOPLE, WARM_UP);
  using importers = new Importers(stack, IMPORTING_USERS);
  const run = { ...options, stack, load, importers, person, logs: new LogWatch(stack.logs) };
  const verdicts: Verdict[] = [];
  for (const fault of faults) {
    print(`${fault.name}: ${fault.what}`);
    if (fault.needsRedis === true && stack.redis.url === null) {
      verdicts.push(notRun(fault.name, 'there is no Redis on this machine'));
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
  using _looking = lookAgainAndAgain(load, timeline);
  await pause(run, Math.min(2_000, milliseconds / 4));
  timeline.say('the fault begins');
  const violations = await play(fault, run, timeline);
  timeline.say('the fault is over');
  const recovery = await untilWorking(stack, person, run.recoveryMs ?? RECOVERY_MS);
  if (typeof recovery === 'string') violations.push(`no recovery: ${recovery}`);
  else timeline.say('everything works again at every gateway');
  await pause(run, Math.min(1_000, milliseconds / 8));
  const [report, imports] = await Promise.all([load.end(), importers.end()]);
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

function lookAgainAndAgain(load: LoadProcess, timeline: Timeline): Disposable {
  const look = () => load.look().then((tally) => timeline.look(tally));
  // Failures of the load are reported by its other callers.
  const looking = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  return { [Symbol.dispose]: () => clearInterval(looking) };
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
