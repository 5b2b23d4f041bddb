import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import {
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Browser as RealBrowser,
} from 'playwright-core';
import { findLaunchOptions } from './chromium.ts';
import { REDIRECT_URI } from './partner-app.ts';

export type { RealBrowser };

/** Screen sizes and color schemes. */
const SCREENS = {
  narrow: { viewport: { width: 320, height: 568 }, hasTouch: true },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 800 } },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
} as const;

// The screens for pictures: phone and desktop, light and dark.
const PICTURES = [
  { as: 'phone', size: SCREENS.phone.viewport, colorScheme: 'light' },
  { as: 'phone-dark', size: SCREENS.phone.viewport, colorScheme: 'dark' },
  { as: 'desktop', size: SCREENS.desktop.viewport, colorScheme: 'light' },
  { as: 'desktop-dark', size: SCREENS.desktop.viewport, colorScheme: 'dark' },
] as const;

// A busy machine needs many times what a quiet one does. Only a failing test waits this long.
const STEP_LIMIT_MS = 60_000;

const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

export type Screen = keyof typeof SCREENS;

type ScreenSettings = Pick<BrowserContextOptions, 'colorScheme'> & {
  readonly viewport: { readonly width: number; readonly height: number };
};

/** Starts a real browser; null when none can be installed. */
export async function openRealBrowser(): Promise<RealBrowser | null> {
  const options = await findLaunchOptions();
  return options === null ? null : chromium.launch(options);
}

/** A person using a real browser. Everything that the browser reports as wrong is collected in `complaints`. */
export class Visitor implements AsyncDisposable {
  readonly page: Page;
  /** Script errors, violations of the content security policy, failed requests, and requests to other sites. */
  readonly complaints: string[] = [];
  readonly #context: BrowserContext;
  readonly #gateway: string;

  private constructor(context: BrowserContext, page: Page, gateway: string) {
    this.#context = context;
    this.page = page;
    this.#gateway = gateway;
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // The browser also logs each request that is refused or unanswered. Tests check the page's reaction instead.
      const isRefusal =
        /the server responded with a status of|ERR_(INTERNET_DISCONNECTED|CONNECTION_RESET)/.test(
          message.text(),
        );
      if (message.type() === 'error' && !isRefusal) this.complaints.push(message.text());
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      const isForeign =
        /^https?:$/.test(url.protocol) && url.origin !== gateway && !page.url().startsWith(`${url.origin}/`);
      if (isForeign && !request.isNavigationRequest()) this.complaints.push(`request to ${url.origin}`);
    });
  }

  /** Opens a browser window; with a session, the person is signed in. */
  static async open(
    browser: RealBrowser,
    { gateway, session, screen = 'desktop' }: { gateway: string; session?: string; screen?: Screen },
  ): Promise<Visitor> {
    const context = await browser.newContext({
      ...SCREENS[screen],
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(STEP_LIMIT_MS);
    if (session !== undefined) {
      await context.addCookies([
        { name: 'session', value: session, url: gateway, httpOnly: true, sameSite: 'Lax' },
      ]);
    }
    return new Visitor(context, await context.newPage(), gateway);
  }

  /** Opens a path or an absolute URL and waits until loading has finished. */
  async goto(path: string): Promise<void> {
    await this.page.goto(new URL(path, this.#gateway).href);
    await this.page.locator('main h1').waitFor();
    await this.page.locator('[data-loading]').first().waitFor({ state: 'detached' });
  }

  /** Shows the same page on another screen. */
  async lookAs(screen: Screen): Promise<void> {
    const { viewport, colorScheme }: ScreenSettings = SCREENS[screen];
    await this.page.setViewportSize(viewport);
    await this.page.emulateMedia({ colorScheme: colorScheme ?? 'light' });
  }

  /** The elements beyond the right edge of the page, with all text enlarged by `zoom`. */
  async findOverflow(zoom = 1): Promise<string[]> {
    return this.page.locator(':root').evaluate((root, factor) => {
      root.style.fontSize = `${factor * 100}%`;
      const { clientWidth, scrollWidth } = root;
      const beyond = Array.from(root.querySelectorAll('main *, header *'), (element: typeof root) => ({
        right: element.getBoundingClientRect().right,
        html: element.outerHTML.slice(0, 160),
      })).filter(({ right }) => right > clientWidth + 1);
      root.style.fontSize = '';
      return scrollWidth > clientWidth ? beyond.map(({ html }) => html) : [];
    }, zoom);
  }

  /** Performs an action that redirects to an app. The app is not running; only the target URL matters. */
  async leave(act: () => Promise<void>): Promise<URL> {
    await this.page.route(`${REDIRECT_URI}**`, (route) => route.fulfill({ body: 'the app' }));
    const arrival = this.page.waitForRequest((request) => request.url().startsWith(REDIRECT_URI));
    await act();
    const url = new URL((await arrival).url());
    // Otherwise the arrival would interrupt what the test opens next.
    await this.page.waitForURL(`${REDIRECT_URI}**`, { waitUntil: 'commit' });
    return url;
  }

  /**
   * The accessibility violations that axe finds on the current page, one line each; with `rules`, only those of its rules about
   * colors, which are all that another color scheme can break.
   */
  async findBarriers(rules: 'all' | 'colors' = 'all'): Promise<string[]> {
    const session = await this.#context.newCDPSession(this.page);
    // Evaluated by the debugger, once for each page, because the page's content security policy blocks foreign scripts.
    const isThere = await session.send('Runtime.evaluate', { expression: 'globalThis.axe !== undefined' });
    if (isThere.result.value !== true) await session.send('Runtime.evaluate', { expression: axe.source });
    // Without the results of rules that hold, whose elements axe would each describe by a selector: most of the time on a long page.
    const options = { resultTypes: ['violations'], ...(rules === 'colors' ? { runOnly: COLOR_RULES } : {}) };
    const expression = `axe.run(${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations))`;
    const { result } = await session.send('Runtime.evaluate', { expression, awaitPromise: true });
    await session.detach();
    const violations = JSON.parse(String(result.value)) as axe.Result[];
    return violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes[0]?.html})`);
  }

  /**
   * Takes pictures of the current page on phone and desktop, light and dark, in every language that it offers, if `SCREENSHOTS` names
   * a directory: the visible part, and the whole page if it is longer.
   */
  async takePictures(name: string): Promise<void> {
    const directory = process.env['SCREENSHOTS'];
    if (directory === undefined) return;
    await mkdir(directory, { recursive: true });
    const before = this.page.viewportSize();
    const hasLanguages = (await this.page.locator('footer button[lang]').count()) > 0;
    for (const language of hasLanguages ? (['de', 'en'] as const) : [null]) {
      if (language !== null) await this.speak(language);
      const path = join(directory, language === null ? name : `${name}-${language}`);
      for (const picture of PICTURES) await this.#takePicture(path, picture);
    }
    await this.page.emulateMedia({ colorScheme: null });
    if (before !== null) await this.page.setViewportSize(before);
  }

  /** Shows the same page in another language. */
  async speak(language: 'en' | 'de'): Promise<void> {
    // Evaluated, because a dialog makes the rest of the page unreachable.
    await this.page.locator(`footer button[lang=${language}]`).evaluate((button) => button.click());
    await this.page.locator(`html[lang=${language}]`).waitFor();
  }

  async #takePicture(path: string, { as, size, colorScheme }: (typeof PICTURES)[number]): Promise<void> {
    await this.page.setViewportSize(size);
    await this.page.emulateMedia({ colorScheme });
    await this.page.screenshot({ path: `${path}-${as}.png` });
    const { height = 0 } = (await this.page.locator('body').boundingBox()) ?? {};
    if (height <= size.height + 1) return;
    await this.page.setViewportSize({ ...size, height: Math.ceil(height) });
    await this.page.screenshot({ path: `${path}-${as}-whole.png` });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}
