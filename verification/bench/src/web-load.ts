import type { RealBrowser } from '@phds/running-system/visitor';

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
export interface Load {
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

/** Loads a page in a new window with an empty cache. */
export async function loadPage(
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
