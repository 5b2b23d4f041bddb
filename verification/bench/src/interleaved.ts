import { loadavg } from 'node:os';
import { join } from 'node:path';
import { checkOut } from '@phds/guarantees/versions/checkout';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { listenForSignals } from '@phds/local-stack/interrupt';
import { startFloor } from './heart.ts';
import { countFailed, type KindRounds, reportInterleaved } from './interleaved-report.ts';
import { type AnySide, measureInTurn, type Side } from './measure.ts';
import type { Options } from './options.ts';
import type { PreparedStack } from './prepare-stack.ts';
import { type MeasuredIssuer, startProvider, toTokenJob } from './token.ts';

/** No limit is reached: what is measured is the service, not its limits. The other commit has no built pages. */
const GATEWAY = {
  LIMIT_CLIENT_PER_MINUTE: '100000000',
  LIMIT_CLIENT_CREDENTIALS_PER_MINUTE: '100000000',
  WEB_DIRECTORY: join(repositoryRoot, 'packages/web/dist'),
  DOCS_DIRECTORY: join(repositoryRoot, 'packages/docs/dist'),
};

interface Contestant {
  readonly reads: Side;
  readonly tokens: MeasuredIssuer;
}

/** Measures another commit and this tree in turn, and if wanted smaller programs beside them. A signal ends it after a stretch. */
export async function benchInterleaved(options: Options): Promise<string> {
  const signal = listenForSignals();
  const loads = [loadavg()];
  const filled = { ...options, fresh: true, users: options.kinds.includes('read') ? options.users : 1 };
  await using earlier = await checkOut(options.commit, console.log);
  signal.throwIfAborted();
  await using before = await startTree(earlier.directory, filled);
  signal.throwIfAborted();
  await using after = await startTree(repositoryRoot, filled);
  using beside = options.beside ? await startBeside(after.prepared, filled.users) : null;
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
    const sides: Record<string, AnySide> = { before: toSide(before), after: toSide(after) };
    if (beside !== null) sides[kind === 'read' ? 'floor' : 'oidc-provider'] = toSide(beside);
    const program = kind === 'read' ? 'load.ts' : 'token-load.ts';
    measured.push({ kind, rounds: await measureInTurn(sides, options.rounds, console.log, program) });
    loads.push(loadavg());
  }
  if (countFailed(measured) > 0) process.exitCode = 1;
  return reportInterleaved(measured, { ...options, commit: earlier.revision, loads });
}

/** Starts and fills the stack of a checkout with its own programs, because tables and calls may differ. */
async function startTree(directory: string, options: Options) {
  const load = (file: string) => import(join(directory, 'verification/bench/src', file));
  const { prepareStack }: typeof import('./prepare-stack.ts') = await load('prepare-stack.ts');
  const { prepareIssuer }: typeof import('./token.ts') = await load('token.ts');
  await using cleanup = new AsyncDisposableStack();
  const prepared = cleanup.use(
    await prepareStack('bench-interleaved', options, { environment: { gateway: GATEWAY } }),
  );
  const { side: reads, stack } = prepared;
  const tokens = { ...(await prepareIssuer(stack)), processes: reads.processes };
  const running = cleanup.move();
  return { prepared, reads, tokens, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Starts the floor program and `oidc-provider`. */
async function startBeside(prepared: PreparedStack, users: number): Promise<Contestant & Disposable> {
  using cleanup = new DisposableStack();
  const reads = cleanup.use(await startFloor(prepared, users));
  const tokens = cleanup.use(await startProvider());
  const running = cleanup.move();
  return { reads, tokens, [Symbol.dispose]: () => running.dispose() };
}
