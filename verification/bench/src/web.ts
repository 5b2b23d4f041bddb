import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import { openRealBrowser, type RealBrowser } from '@phds/running-system/visitor';
import type { Options } from './options.ts';
import { median, toTable } from './report.ts';

const HEART = 'read:health-data:heart';
const SCOPES = [HEART, 'read:mood', 'read:weight', 'read:trends', 'read:profile'];
const READS = 30;

// Lighthouse's mobile device: its screen, a processor four times as slow, and a slow 4G network.
const SCREEN = {
  viewport: { width: 412, height: 823 },
  deviceScaleFactor: 1.75,
  hasTouch: true,
  isMobile: true,
};
const CPU_SLOWDOWN = 4;
const BYTES_PER_SECOND = (1.6 * 1024 * 1024) / 8;
const NETWORK = {
  offline: false,
  latency: 150,
  downloadThroughput: BYTES_PER_SECOND,
  uploadThroughput: BYTES_PER_SECOND / 2,
};
/** A page counts as loaded when nothing has happened for this long. */
const QUIET_MS = 1000;

/** One cold load of a page. */
interface Load {
  /** First contentful paint. */
  readonly firstPaintMs: number;
  /** Largest contentful paint. */
  readonly largestPaintMs: number;
  /** Sum of all unexpected shifts, which is at least the cumulative layout shift. */
  readonly layoutShift: number;
  /** Total blocking time: the part of each task after the first paint beyond 50 ms. */
  readonly blockedMs: number;
  /** As gzip. */
  readonly scriptBytes: number;
  readonly requests: number;
}

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
    const worst = Math.max(...all.map(({ largestPaintMs }) => largestPaintMs));
    return [
      name,
      of(({ firstPaintMs }) => firstPaintMs).toFixed(0),
      `${of(({ largestPaintMs }) => largestPaintMs).toFixed(0)} (${worst.toFixed(0)})`,
      of(({ layoutShift }) => layoutShift).toFixed(3),
      of(({ blockedMs }) => blockedMs).toFixed(0),
      of(({ scriptBytes }) => scriptBytes / 1000).toFixed(0),
      of(({ requests }) => requests),
    ];
  });
  const columns = ['FCP ms', 'LCP ms: median (worst)', 'CLS', 'TBT ms', 'script kB, gzip', 'requests'];
  return ['', `${rounds} cold loads each`, '', toTable(['page', ...columns], rows)].join('\n');
}

/** Loads a page in a new window with an empty cache. */
async function loadPage(
  browser: RealBrowser,
  { url, session }: { readonly url: string; readonly session: string },
): Promise<Load> {
  const context = await browser.newContext({ ...SCREEN, locale: 'en-GB', timezoneId: 'Europe/Berlin' });
  try {
    const cookie = { name: 'session', value: session, url, httpOnly: true, sameSite: 'Lax' } as const;
    await context.addCookies([cookie]);
    const page = await context.newPage();
    const debug = await context.newCDPSession(page);
    await debug.send('Network.enable');
    await debug.send('Network.emulateNetworkConditions', NETWORK);
    await debug.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
    const scripts: string[] = [];
    let requests = 0;
    page.on('request', (request) => {
      requests += 1;
      if (request.resourceType() === 'script') scripts.push(request.url());
    });
    await page.goto(url, { waitUntil: 'networkidle' });
    await page.locator('main h1').waitFor();
    const timings = (await page.evaluate(OBSERVED)) as Pick<
      Load,
      'firstPaintMs' | 'largestPaintMs' | 'layoutShift' | 'blockedMs'
    >;
    return { ...timings, requests, scriptBytes: await sumOfSizes(scripts) };
  } finally {
    await context.close();
  }
}

// Runs in the page. https://web.dev/articles/tbt, https://web.dev/articles/cls
const OBSERVED = `new Promise((resolve) => {
  const seen = { 'largest-contentful-paint': [], 'layout-shift': [], longtask: [] };
  for (const type of Object.keys(seen)) {
    new PerformanceObserver((list) => seen[type].push(...list.getEntries())).observe({ type, buffered: true });
  }
  setTimeout(() => {
    const firstPaintMs = performance.getEntriesByName('first-contentful-paint')[0].startTime;
    const sum = (values) => values.reduce((one, other) => one + other, 0);
    resolve({
      firstPaintMs,
      largestPaintMs: Math.max(...seen['largest-contentful-paint'].map((entry) => entry.startTime)),
      layoutShift: sum(seen['layout-shift'].filter((entry) => !entry.hadRecentInput).map((entry) => entry.value)),
      blockedMs: sum(
        seen.longtask
          .filter((entry) => entry.startTime + entry.duration > firstPaintMs)
          .map((entry) => entry.duration - Math.max(0, firstPaintMs - entry.startTime) - 50)
          .filter((blocked) => blocked > 0),
      ),
    });
  }, ${QUIET_MS});
})`;

async function sumOfSizes(urls: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    urls.map(async (url) => {
      const { headers } = await fetch(url, { method: 'HEAD', headers: { 'Accept-Encoding': 'gzip' } });
      return Number(headers.get('content-length'));
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
