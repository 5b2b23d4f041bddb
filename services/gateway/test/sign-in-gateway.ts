import { beforeEach, expect } from '@jest/globals';
import type { PageMessage } from '@phds/catalog/page-messages';
import { checkedFetchOfFakes } from '@phds/test-kit/checked-answers';
import { type Deviation, startFakeOpenidProvider } from './fake-openid-provider.ts';
import { clear, messageIn, share, startTestGateway, type TestGateway, VISIT } from './test-gateway.ts';

export const SESSION = '__Host-session';
export const ATTEMPT = '__Host-sign-in';

export type SignInGateway = Awaited<ReturnType<typeof startSignInGateway>>;

interface SignInOptions {
  readonly user?: string;
  readonly deviation?: Deviation;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** A gateway whose people sign in at a fake provider. */
export async function startSignInGateway(env: Readonly<Record<string, string>> = {}) {
  await using stack = new AsyncDisposableStack();
  const provider = stack.use(await startFakeOpenidProvider());
  const gateway = stack.use(await startTestGateway({ ...provider.settings, ...env }));
  // The clock of the gateway stands still.
  provider.now = () => gateway.clock.now();
  /** Begins a sign-in; returns the address to which the browser is sent. */
  const begin = async (browser: TestBrowser, parameters: Readonly<Record<string, string>> = {}) => {
    const response = await browser.open(gateway, `/sign-in?${new URLSearchParams(parameters)}`);
    const location = response.headers.get('location');
    if (response.status !== 303 || location === null) throw new Error(`sign-in answered ${response.status}`);
    return location;
  };
  const owned = stack.move();
  return {
    provider,
    gateway,
    begin,
    /** Another replica of the gateway. */
    startReplica: async (other: Readonly<Record<string, string>> = {}): Promise<TestGateway> =>
      owned.use(await startTestGateway({ ...provider.settings, ...env, ...other })),
    /** Begins a sign-in, lets the provider answer, and opens the callback. */
    signIn: async (
      browser: TestBrowser,
      { user = 'ada', deviation, parameters }: SignInOptions = {},
    ): Promise<Response> => {
      const location = await begin(browser, parameters);
      return browser.open(gateway, provider.authorize(location, user, deviation));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** One such gateway for all tests of a file or a `describe`; see `shareTestGateway`. */
export function shareSignInGateway(env: Readonly<Record<string, string>> = {}): SignInGateway {
  const at = share(() => startSignInGateway(env));
  beforeEach(() => clear(at.gateway));
  return at;
}

/** Expects the document of the web app with a message with these members, and no session. */
export async function expectMessage(
  browser: TestBrowser,
  response: Response,
  status: number,
  message: Partial<PageMessage>,
): Promise<void> {
  expect([response.status, messageIn(await response.text())]).toEqual([
    status,
    expect.objectContaining(message),
  ]);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  expect(browser.cookies.has(SESSION)).toBe(false);
}

/** Expects the message for an answer of the provider that is not accepted. */
export const expectNotAccepted = (browser: TestBrowser, response: Response) =>
  expectMessage(browser, response, 502, { code: 'SIGN_IN_FAILED' });

/** A browser's cookies for one origin. Each request is sent to the gateway that is given, as a load balancer would choose one. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();

  /** Visits an address without following a redirect, and keeps the cookies that it sets. */
  async open(gateway: { readonly url: string }, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers({ ...VISIT, ...Object.fromEntries(new Headers(init.headers)) });
    if (this.cookies.size > 0) headers.set('cookie', this.header);
    const response = await checkedFetchOfFakes(gateway.url + path, { redirect: 'manual', ...init, headers });
    for (const field of response.headers.getSetCookie()) this.#keep(field);
    return response;
  }

  get header(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Names of the cookies that start with `prefix`. */
  names(prefix: string): string[] {
    return [...this.cookies.keys()].filter((name) => name.startsWith(prefix));
  }

  #keep(field: string): void {
    const [pair = '', ...attributes] = field.split('; ');
    const mark = pair.indexOf('=');
    const name = pair.slice(0, mark);
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, pair.slice(mark + 1));
  }
}
