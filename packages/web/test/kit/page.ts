import { globSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'node:util';
import { jest } from '@jest/globals';
import { i18n } from '@lingui/core';
import { createElement } from 'react';
import { type Answers, problem, type Sent, Service } from './answers.ts';
import { installDom, type Leaving, openEmptyPage, removeDom, tellPage } from './dom.ts';
import { NOW } from './times.ts';

// Libraries look for a browser when they are loaded.
installDom();
const SRC = join(import.meta.dirname, '../../src');
const { act, cleanup, configure, fireEvent, render, screen, within } = await import('@testing-library/react');
const { userEvent } = await import('@testing-library/user-event');
const { startPageMessage } = await import('../../src/api/page-message.ts');
const { createQueryClient } = await import('../../src/api/query-client.ts');
const { startSignIn } = await import('../../src/api/sign-in.ts');
const { Root } = await import('../../src/root.tsx');
const { startLanguage, USUAL_LOCALES } = await import('../../src/texts/language.ts');
// The scripts of pages and dialogs, which the app loads when it needs them.
for (const file of globSync('{pages,ui}/**/*.tsx', { cwd: SRC })) await import(join(SRC, file));
removeDom();
configure({
  getElementError: (message) =>
    new Error(`${message?.split('\n')[0]}\nThe page says:\n${textOf(document.body)}`),
});

export { fireEvent, screen, within };

const LANGUAGES = { en: ['en-GB', 'en'], de: ['de-CH', 'de'] };
/** The timers that pages use. */
const KEPT_TIMERS = ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'hrtime'] as const;
const nextTurn = setImmediate;
/** An answer that has arrived is read, checked and rendered in fewer turns than these. */
const QUIET_TURNS = 8;
const MAX_TURNS = 1_000;
/** Each turn of waiting is a frame of the browser. No other time passes. */
const FRAME_MS = 16;

/** Rules of axe that judge colors, or what a dialog covers. They are checked in a real browser. */
const NEED_LAYOUT = ['color-contrast', 'landmark-one-main', 'link-in-text-block', 'page-has-heading-one'];

export interface PageOptions {
  /** Whether somebody is signed in: Ada, as in the examples. */
  readonly isSignedIn?: boolean;
  readonly language?: keyof typeof LANGUAGES;
  readonly answers?: Answers;
  /** The gateway's message in the document, as the content of its element. */
  readonly message?: string;
  /** What the gateway says of the deployment. */
  readonly deployment?: object;
  /** How much the clock of the browser is ahead of the service's. */
  readonly clockAheadMs?: number;
}

/**
 * Opens a page of the app, with its real routes, texts, cache and API client; only `fetch` is replaced. What `answers` does not say is
 * answered by the recorded examples. Time stands still at NOW until the test lets it pass. A file that opens pages shares its process
 * with files that do not: the DOM is there from here to the end of the page.
 *
 *     await using page = await openPage('/apps/grt_1', { answers: { revokeGrant: LOST } });
 *     await page.confirm('Stop sharing', 'Stop sharing');
 *     page.see('…');
 */
export async function openPage(path: string, options: PageOptions = {}): Promise<Page> {
  const page = new Page(path, options);
  try {
    await page.settle();
    return page;
  } catch (error) {
    await page[Symbol.asyncDispose]();
    throw error;
  }
}

/** An open page. Its methods return when everything has happened that can happen without time passing or a held answer. */
export class Page implements AsyncDisposable {
  readonly user: ReturnType<typeof userEvent.setup>;
  /** Navigations away from the page: `assign`, `replace`, `reload` or `close`, and the URL. */
  readonly leavings: readonly Leaving[];
  /** What the page has told other tabs of the browser. */
  readonly told: readonly unknown[];
  readonly #service: Service;
  readonly #client = createQueryClient();
  readonly #complaints: string[] = [];
  #areTimersRunning = false;
  readonly #real = { fetch: globalThis.fetch, error: console.error, warn: console.warn };

  constructor(path: string, options: PageOptions) {
    const { isSignedIn = true, language = 'en', answers = {}, clockAheadMs = 0 } = options;
    const { message = '', deployment = {} } = options;
    if ('jest' in globalThis) throw new Error('Another page is open.');
    installDom();
    jest.useFakeTimers({ now: NOW + clockAheadMs, doNotFake: [...KEPT_TIMERS] });
    this.#renderAfterTimers();
    const table = isSignedIn ? answers : { getSession: problem('UNAUTHORIZED'), ...answers };
    this.#service = new Service(table, () => Date.now() - clockAheadMs);
    const complain = (...words: unknown[]) => void this.#complaints.push(format(...words));
    Object.assign(console, { error: complain, warn: complain });
    // Testing Library lets the faked time pass by it.
    Object.assign(globalThis, { fetch: this.#service.fetch, jest });
    const { leavings, told } = openEmptyPage(path, LANGUAGES[language], {
      message,
      deployment: JSON.stringify(deployment),
    });
    this.leavings = leavings;
    this.told = told;
    startSignIn();
    startPageMessage();
    startLanguage();
    this.user = userEvent.setup({ delay: null });
    render(createElement(Root, { client: this.#client }));
  }

  /** What the next requests are answered. */
  get answers(): Answers {
    return this.#service.answers;
  }

  /** All requests of the page so far. */
  get requests(): readonly Sent[] {
    return this.#service.requests;
  }

  /** The requests that change something, by operation. */
  get changes(): readonly (readonly [string, unknown])[] {
    return this.requests
      .filter(({ method }) => method !== 'GET')
      .map(({ operation, body }) => [operation, body] as const);
  }

  /** The path and query in the address bar. */
  get path(): string {
    return location.pathname + location.search;
  }

  /** Holds the answers of an operation back. Returns a function that lets them arrive. */
  hold(operation: Parameters<Service['hold']>[0]): () => Promise<void> {
    const release = this.#service.hold(operation);
    return () => {
      release();
      return this.settle();
    };
  }

  /** The smallest element that contains a text. Throws if there is none. */
  see(text: string | RegExp, within: Element = document.body): HTMLElement {
    const found = this.find(text, within);
    if (found !== null) return found;
    throw new Error(`The page does not say ${text}. It says:\n${textOf(within)}`);
  }

  /** The same; null if there is none. */
  find(text: string | RegExp, within: Element = document.body): HTMLElement | null {
    const says = (element: Element) =>
      typeof text === 'string' ? textOf(element).includes(text) : text.test(textOf(element));
    const elements = [within, ...within.querySelectorAll<HTMLElement>('*')];
    return (
      (elements.find((one) => says(one) && ![...one.children].some(says)) as HTMLElement | undefined) ?? null
    );
  }

  /** The texts of the alerts on the page. */
  get alerts(): string[] {
    return screen.queryAllByRole('alert').map(textOf);
  }

  /** Presses a button, link, checkbox, radio button … by its name, or an element. */
  async press(what: string | RegExp | Element, role = 'button'): Promise<void> {
    const element = what instanceof Element ? what : screen.getByRole(role, { name: what });
    await this.user.click(element);
    await this.settle();
  }

  /** Presses a button that asks for a confirmation, and confirms. */
  async confirm(trigger: string | RegExp, name: string | RegExp): Promise<void> {
    await this.press(trigger);
    await this.press(within(screen.getByRole('alertdialog')).getByRole('button', { name }));
  }

  /** Moves the focus. */
  async focus(element: HTMLElement): Promise<void> {
    await act(async () => element.focus());
  }

  /** Enters a text, a day (YYYY-MM-DD) or a choice in the field with this label, in place of what is there. */
  async fill(label: string | RegExp, value: string): Promise<void> {
    const field = screen.getByLabelText(label);
    if (field instanceof HTMLSelectElement) await this.user.selectOptions(field, value);
    else {
      await this.user.clear(field);
      // At once, because typing renders the page for each character.
      await this.user.click(field);
      if (value !== '') await this.user.paste(value);
    }
    await this.settle();
  }

  /** Presses keys, in the notation of user-event: `{Enter}`, `{Shift>}{Tab}{/Shift}`. */
  async keys(keys: string): Promise<void> {
    await this.user.keyboard(keys);
    await this.settle();
  }

  /** Lets time pass, second by second. */
  async pass(ms: number): Promise<void> {
    const end = Date.now() + ms;
    for (let rest = ms; rest > 0; rest = end - Date.now()) {
      this.#letTimersRun(Math.min(rest, 1_000));
      await act(() => new Promise<void>((resolve) => nextTurn(resolve)));
      if (this.#service.underWay > 0) await this.settle();
    }
    await this.settle();
  }

  /** Another tab of the browser tells the page something. */
  async hear(news: unknown): Promise<void> {
    await act(async () => tellPage(news));
    await this.settle();
  }

  /** The person comes back from another window. */
  async comeBack(): Promise<void> {
    await act(async () => void window.dispatchEvent(new Event('visibilitychange')));
    await this.settle();
  }

  /** What axe finds on the page, one line each. */
  async findBarriers(): Promise<string[]> {
    const { default: axe } = await import('axe-core');
    const rules = Object.fromEntries(NEED_LAYOUT.map((rule) => [rule, { enabled: false }]));
    let isRunning = true;
    const run = axe.run(document.documentElement, { resultTypes: ['violations'], rules }).finally(() => {
      isRunning = false;
    });
    while (isRunning) await this.settle();
    return (await run).violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes[0]?.html})`);
  }

  /**
   * Waits until the requests under way are answered and everything is rendered. Throws if something was wrong: on the console, or in
   * the test's own answers.
   */
  async settle(): Promise<void> {
    let turns = 0;
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      this.#letTimersRun(FRAME_MS);
      await act(() => new Promise<void>((resolve) => nextTurn(resolve)));
      if (this.#service.underWay > 0) quiet = -1;
      turns += 1;
      if (turns > MAX_TURNS) throw new Error('The page does not come to rest.');
    }
    this.#check();
  }

  /** Renders after each timer, as browsers do: one may look for what the one before it has changed. */
  #letTimersRun(ms: number): void {
    this.#areTimersRunning = true;
    jest.advanceTimersByTime(ms);
    this.#areTimersRunning = false;
  }

  #renderAfterTimers(): void {
    for (const name of ['setTimeout', 'setInterval'] as const) {
      const set = globalThis[name];
      const setAndRender = (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
        set(() => (this.#areTimersRunning ? act(() => void run(...args)) : run(...args)), ms);
      // With its `clock`, by which Testing Library recognizes faked timers.
      Object.assign(globalThis, { [name]: Object.assign(setAndRender, set) });
    }
  }

  /** Closes the page. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      cleanup();
      this.#client.clear();
      await new Promise((resolve) => nextTurn(resolve));
    } finally {
      jest.useRealTimers();
      globalThis.fetch = this.#real.fetch;
      Object.assign(console, { error: this.#real.error, warn: this.#real.warn });
      Reflect.deleteProperty(globalThis, 'jest');
      removeDom();
      // Files that open no page expect the language in which the process began.
      i18n.activate('en', USUAL_LOCALES.en);
    }
    this.#check();
  }

  /** Throws if something was wrong. */
  #check(): void {
    const faults = [...this.#service.faults.splice(0), ...this.#complaints.splice(0)];
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }
}

/** The text of an element, with single spaces. */
export function textOf(element: Element): string {
  return (element.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
}
