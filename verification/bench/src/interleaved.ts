import { loadavg } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { listenForSignals } from '@phds/local-stack/interrupt';
import { checkOut } from './checkout.ts';
import { type AnySide, measureInTurn, type Round, type Side } from './measure.ts';
import type { Kind, Options } from './options.ts';
import { countFailures, type Rounds, toSideColumns, toSideRows, toTable, toVerdict } from './report.ts';
import { type MeasuredIssuer, NO_LIMITS, toTokenJob } from './token.ts';

interface Contestant {
  readonly reads: Side;
  readonly tokens: MeasuredIssuer;
}

/** Measures another commit and this tree in turn. A signal ends it after a stretch. */
export async function benchInterleaved(options: Options): Promise<string> {
  const signal = listenForSignals();
  const loads = [loadavg()];
  const filled = { ...options, fresh: true, users: options.kinds.includes('read') ? options.users : 1 };
  await using earlier = await checkOut(options.commit, console.log);
  signal.throwIfAborted();
  await using before = await startTree(earlier.directory, filled);
  signal.throwIfAborted();
  await using after = await startTree(repositoryRoot, filled);
  const measured: KindRounds[] = [];
  for (const kind of options.kinds) {
    console.log(kind);
    const toSide = (one: Contestant): AnySide => ({
      async job() {
        signal.throwIfAborted();
        return kind === 'read' ? one.reads.job : await toTokenJob(one.tokens, kind, options);
      },
      processes: kind === 'read' ? one.reads.processes : one.tokens.processes,
    });
    const sides = { before: toSide(before), after: toSide(after) };
    measured.push({ kind, rounds: await measureInTurn(sides, options.rounds, console.log) });
    loads.push(loadavg());
  }
  if (countFailures(resultsOf(measured)) > 0) process.exitCode = 1;
  return reportInterleaved(measured, { ...options, commit: earlier.revision, loads });
}

/** Starts and fills the stack of a checkout with its own programs, because tables and calls may differ. */
async function startTree(directory: string, options: Options) {
  const load = (file: string) => import(join(directory, 'verification/bench/src', file));
  const { prepareStack }: typeof import('./prepare-stack.ts') = await load('prepare-stack.ts');
  const { prepareIssuer }: typeof import('./token.ts') = await load('token.ts');
  await using cleanup = new AsyncDisposableStack();
  const prepared = cleanup.use(
    await prepareStack('bench-interleaved', options, { environment: { gateway: NO_LIMITS } }),
  );
  const { side: reads, stack } = prepared;
  const tokens = { ...(await prepareIssuer(stack)), processes: reads.processes };
  const running = cleanup.move();
  return { reads, tokens, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** The rounds of one kind of request: `before` and `after`. */
export interface KindRounds {
  readonly kind: Kind;
  readonly rounds: Rounds;
}

type Settings = Options & {
  /** Load averages at the start and after each kind. */
  readonly loads: readonly (readonly number[])[];
};

/** Formats the result as Markdown. */
export function reportInterleaved(measured: readonly KindRounds[], settings: Settings): string {
  const { commit, connections, rounds, seconds, users, kinds, loads } = settings;
  const people = kinds.includes('read') ? `, ${users} users` : '';
  const processes = Object.keys(measured[0]?.rounds[0]?.['after']?.cpu ?? {});
  const columns = ['request', ...toSideColumns({ base: 'before', processes })];
  const rows = measured.flatMap(({ kind, rounds: of }) => {
    return toSideRows(of, { base: 'before', processes }).map((row) => [kind, ...row]);
  });
  return [
    '',
    `before: ${commit}; after: this tree; ${connections} connections, ${rounds} rounds of ${seconds} s${people}`,
    '',
    toTable(columns, rows),
    '',
    `load average of a minute, at the start and after each kind: ${loads.map(([minute = 0]) => minute.toFixed(1)).join(', ')}`,
    '',
    toVerdict(resultsOf(measured)),
  ].join('\n');
}

/** The results of all rounds. */
function resultsOf(measured: readonly KindRounds[]): Round[] {
  return measured.flatMap(({ rounds }) => rounds.flatMap((round) => Object.values(round)));
}
