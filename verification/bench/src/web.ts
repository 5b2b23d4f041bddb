import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import { openRealBrowser } from '@phds/running-system/visitor';
import type { Options } from './options.ts';
import { median } from './report.ts';
import { type Load, loadPage } from './web-load.ts';

const HEART = 'read:health-data:heart';
const SCOPES = [HEART, 'read:mood', 'read:weight', 'read:trends', 'read:profile'];
const READS = 30;

interface Place {
  readonly name: string;
  readonly path: string;
}

/** Measures what a person on a slow phone waits for: cold loads of all pages, in turn, in every round. */
export async function benchWeb({ rounds }: Options): Promise<string> {
  const browser = await openRealBrowser();
  if (browser === null) return 'there is no Chromium here, and none could be installed';
  try {
    await using stack = await startRunningStack({ seed: true });
    const session = await signIn(stack, 'ada');
    const places = await prepare(stack, session);
    const loads = new Map<string, Load[]>();
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, path } of places) {
        const load = await loadPage(browser, { url: new URL(path, stack.gateway).href, session });
        loads.set(name, [...(loads.get(name) ?? []), load]);
      }
    }
    return toReport(loads, rounds);
  } finally {
    await browser.close();
  }
}

/** Gives the person some history: two apps (one of them reads), a pending request, and an app of her own. */
async function prepare(stack: RunningStack, session: string): Promise<Place[]> {
  const app = await registerApp(stack.gateway, session, { name: 'Morning Run' });
  const other = await registerApp(stack.gateway, session, { name: 'Sleep Well' });
  await other.connect(session, [HEART]);
  const { accessToken } = await app.connect(session, SCOPES);
  for (let reads = 0; reads < READS; reads += 1) {
    expectStatus(200, await app.read(accessToken, '/api/v1/health-data/heart'));
  }
  const { body } = expectStatus(201, await other.authorize(SCOPES));
  return [
    { name: 'approval screen', path: body.approval_uri },
    { name: 'connected apps', path: '/apps' },
    { name: 'access history', path: '/history' },
    { name: 'my data', path: '/data' },
    { name: 'developer console', path: '/console' },
  ];
}

function toReport(loads: ReadonlyMap<string, readonly Load[]>, rounds: number): string {
  const rows = [...loads].map(([name, all]) => {
    const of = (value: (load: Load) => number) => median(all.map(value));
    return `| ${[
      name,
      of(({ firstPaintMs }) => firstPaintMs).toFixed(0),
      `${of(({ largestPaintMs }) => largestPaintMs).toFixed(0)} (${Math.max(...all.map(({ largestPaintMs }) => largestPaintMs)).toFixed(0)})`,
      of(({ layoutShift }) => layoutShift).toFixed(3),
      of(({ blockedMs }) => blockedMs).toFixed(0),
      of(({ scriptBytes }) => scriptBytes / 1000).toFixed(0),
      of(({ requests }) => requests),
    ].join(' | ')} |`;
  });
  return [
    '',
    `${rounds} cold loads each`,
    '',
    '| page | FCP ms | LCP ms: median (worst) | CLS | TBT ms | script kB, gzip | requests |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
