import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { findChromium } from '@phds/running-system/chromium';
import {
  type RunningStack,
  type RunningStackOptions,
  startRunningStack,
} from '@phds/running-system/running-stack';
import { openRealBrowser, type RealBrowser, type Screen, Visitor } from '@phds/running-system/visitor';
import { describeWith } from '@phds/test-kit/requirements';

/** `describe` for what needs a real browser, where there is one or one could be installed. */
export const describeWithChromium = describeWith('Chromium', (await findChromium()) !== null);

/** A running service and people in front of browsers, for the tests of one file. */
export interface Visits {
  /** There once the tests run. */
  readonly stack: RunningStack;
  /** There once the tests run. */
  readonly browser: RealBrowser;
  /** A new window on a page. Without a session nobody is signed in. */
  open(path: string, options: { session?: string; screen?: Screen }): Promise<Visitor>;
}

/** Starts a service and a browser for the tests of this file; after each test no page may have complained of anything. */
export function prepareVisits(options: RunningStackOptions = {}): Visits {
  let stack: RunningStack | undefined;
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
    browser = await openRealBrowser();
    stack = await startRunningStack(options);
  });
  afterEach(async () => {
    const complaints = visitors.flatMap((visitor) => visitor.complaints);
    for (const visitor of visitors.splice(0)) await visitor[Symbol.asyncDispose]();
    expect(complaints).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.[Symbol.asyncDispose]();
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
  };
}
