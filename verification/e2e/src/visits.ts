import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { findChromium } from '@phds/running-system/chromium';
import { signIn } from '@phds/running-system/people';
import { findSharedBrowser, type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { type RealBrowser, type Screen, Visitor } from '@phds/running-system/visitor';
import { describeWith } from '@phds/test-kit/requirements';
import { chromium, type Download, type Page } from 'playwright-core';

/** `describe` for tests that need a real browser; skipped when none can be installed. */
export const describeWithChromium = describeWith('Chromium', (await findChromium()) !== null);

/** A running service and browser windows, for the tests of one file. */
export interface Visits {
  /** Available once the tests run. */
  readonly stack: SharedStack;
  /** Available once the tests run. */
  readonly browser: RealBrowser;
  /** Opens a page in a new window. Without a session nobody is signed in. */
  open(path: string, options: { session?: string; screen?: Screen }): Promise<Visitor>;
  /** Signs a person in and opens a page. */
  enter(path: string, user: string): Promise<{ session: string; visitor: Visitor; page: Page }>;
}

/**
 * Opens windows of this worker's browser for the tests of this file, on the shared stack or on one that `start` returns. After each
 * test, checks that no page reported an error.
 */
export function prepareVisits(start: () => Promise<SharedStack> = useSharedStack): Visits {
  let stack: SharedStack | undefined;
  let browser: RealBrowser | null = null;
  const visitors: Visitor[] = [];
  const running = () => {
    if (stack === undefined) throw new Error('The service is not running yet.');
    return stack;
  };
  const opened = () => {
    if (browser === null) throw new Error('The browser is not open yet.');
    return browser;
  };
  beforeAll(async () => {
    browser = await chromium.connectOverCDP(await findSharedBrowser());
    stack = await start();
  });
  afterEach(async () => {
    const complaints = visitors.flatMap((visitor) => visitor.complaints);
    for (const visitor of visitors.splice(0)) await visitor[Symbol.asyncDispose]();
    expect(complaints).toEqual([]);
  });
  afterAll(async () => {
    // Closes this connection and its windows; the browser stays for the worker's next file.
    await browser?.close();
  });
  return {
    get stack() {
      return running();
    },
    get browser() {
      return opened();
    },
    async open(path, { session, screen = 'desktop' }) {
      const { gateway } = running();
      const visitor = await Visitor.open(opened(), {
        gateway,
        screen,
        ...(session === undefined ? {} : { session }),
      });
      visitors.push(visitor);
      await visitor.goto(path);
      return visitor;
    },
    async enter(path, user) {
      const session = await signIn(running(), user);
      const visitor = await this.open(path, { session });
      return { session, visitor, page: visitor.page };
    },
  };
}

/** The content of a file that a page offered. */
export async function readDownload(download: Promise<Download>): Promise<string> {
  return text(await (await download).createReadStream());
}
