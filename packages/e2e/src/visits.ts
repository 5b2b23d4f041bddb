import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type RunningStack, type RunningStackOptions, startRunningStack } from './running-stack.ts';
import { type Screen, Visitor } from './visitor.ts';

/** A running service and people in front of browsers, for the tests of one file. */
export interface Visits {
  /** There once the tests run. */
  readonly stack: RunningStack;
  /** A new window on a page. Without a session nobody is signed in. */
  open(path: string, options: { session?: string; screen?: Screen }): Promise<Visitor>;
}

/** Starts a service for the tests of this file; after each test no browser may have complained of anything. */
export function prepareVisits(browser: Browser, options: RunningStackOptions = {}): Visits {
  let stack: RunningStack | undefined;
  const visitors: Visitor[] = [];
  const running = () => {
    if (stack === undefined) throw new Error('The service is not running yet.');
    return stack;
  };
  beforeAll(async () => {
    stack = await startRunningStack(options);
  });
  afterEach(async () => {
    const complaints = visitors.flatMap((visitor) => visitor.complaints);
    for (const visitor of visitors.splice(0)) await visitor[Symbol.asyncDispose]();
    expect(complaints).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await stack?.[Symbol.asyncDispose]();
  });
  return {
    get stack() {
      return running();
    },
    async open(path, { session, screen = 'desktop' }) {
      const { gateway } = running();
      const visitor = await Visitor.open(browser, {
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
