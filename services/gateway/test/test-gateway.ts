import { connect } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import {
  IntrospectResponseSchema,
  type Principal,
  TokenStatus,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { type GrantFacts, GrantFactsSchema, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newSecret } from '@phds/service-kit/secrets';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { checkedFetchOfFakes } from '@phds/test-kit/checked-answers';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createSessionIssuer, type SessionIssuer } from '@phds/test-kit/session-issuer';
import { readEnvironment } from '../src/config.ts';
import { createService } from '../src/service.ts';
import type { CONSTANTS, DEADLINES } from '../src/settings.ts';
import { type Answers, startFakeBackends } from './fake-backends.ts';

/** A real gateway in front of fake services. */
export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;

/** What the services answer from the beginning. `issuer` is by default the gateway's. */
type AtStart = Answers & {
  readonly issuer?: string;
  readonly constants?: Partial<typeof CONSTANTS & typeof DEADLINES>;
};

export async function startTestGateway(
  env: Readonly<Record<string, string>> = {},
  { issuer, constants = {}, ...atStart }: AtStart = {},
) {
  await using stack = new AsyncDisposableStack();
  const backends = stack.use(await startFakeBackends());
  // Close to real time, because jose and rpc deadlines use the real clock.
  const clock = new FakeClock(new Date());
  const sessions = await createSessionIssuer({ clock });
  const log: string[] = [];
  const pauses: number[] = [];
  const config = readEnvironment({
    PORT: '0',
    PROBE_PORT: '0',
    SESSION_ISSUER: sessions.issuer,
    SESSION_AUDIENCE: sessions.audience,
    SESSION_JWKS: sessions.jwks,
    // A busy machine must not make a service appear unavailable.
    DEADLINE_FACTOR: '10',
    REDIS_COMMAND_TIMEOUT_MS: '20000',
    ...backends.settings,
    ...env,
    LIMITS: `failed-authentications=100000,anonymous-authorizations=100000,${env['LIMITS'] ?? ''}`,
  });
  backends.issuer = issuer ?? config.PUBLIC_URL;
  backends.answer(atStart);
  const service = stack.use(
    await createService(
      { ...config, ...constants },
      {
        clock,
        log: createLogger({
          service: 'gateway',
          level: 'debug',
          destination: { write: (line) => void log.push(line) },
        }),
        pause: async (milliseconds) => void pauses.push(milliseconds),
      },
    ),
  );
  const url = `http://127.0.0.1:${service.port}`;
  const owned = stack.move();
  return {
    url,
    port: service.port,
    backends,
    sessions,
    clock,
    service,
    /** The logged lines. */
    log,
    /** The delays, in milliseconds, before failed authentications were answered. */
    pauses,
    /** For answers that the services behind the gateway never give. */
    fetchUnchecked: (path: string, init?: RequestInit) => fetch(url + path, { redirect: 'manual', ...init }),
    /** Does not follow redirects. Throws if the answer is not as the OpenAPI document says; bodies of successes are not checked. */
    fetch: (path: string, init?: RequestInit) =>
      checkedFetchOfFakes(url + path, { redirect: 'manual', ...init }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * One gateway for all tests of a file or a `describe`. It runs from their `beforeAll` to their end. Each test begins without calls, answers
 * and cached tokens.
 */
export function shareTestGateway(
  env: Readonly<Record<string, string>> = {},
  atStart: AtStart = {},
): TestGateway {
  const gateway = share(() => startTestGateway(env, atStart));
  beforeEach(() => clear(gateway));
  return gateway;
}

export function clear({ backends, service }: TestGateway): void {
  backends.calls.length = 0;
  backends.answer({});
  service.accessTokens.clear();
}

/** What Chromium sends when a person opens an address. */
export const VISIT = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
} as const;

/** The message in a document of the web app, as a browser reads it; null if there is none. */
export function messageIn(document: string): unknown {
  const [, content = ''] = /<meta name="message" content="([^"]*)"/.exec(document) ?? [];
  const signs = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
  const json = content.replaceAll(/&[^;]+;/g, (escaped) => signs[escaped as keyof typeof signs]);
  return json === '' ? null : JSON.parse(json);
}

/** Sends a request. The body of the answer is parsed if it is JSON, else a text. */
export async function ask(gateway: TestGateway, path: string, init: RequestInit = {}) {
  const response = await gateway.fetch(path, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { response, status: response.status, body: isJson ? JSON.parse(text) : text };
}

type Claims = NonNullable<Parameters<SessionIssuer['issueSession']>[1]>['claims'];

/** Sends requests with the session of a person. `session()` is the session, from `beforeAll` on. */
export function shareCaller(gateway: TestGateway, userId: string, claims: Claims = {}) {
  let session = '';
  beforeAll(async () => {
    session = await gateway.sessions.issueSession(userId, { expiresInSeconds: 86_400, claims });
  });
  const call = (method: string, path: string, body?: unknown, headers: object = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const sent = body === undefined ? {} : { body: text };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    return ask(gateway, path, { method, headers: { ...bearer(session), ...type, ...headers }, ...sent });
  };
  return { call, session: () => session };
}

/** Stands for what `start` returns, from `beforeAll` on. */
export function share<T extends object & AsyncDisposable>(start: () => Promise<T>): T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(async () => started?.[Symbol.asyncDispose]());
  const get = (_: T, name: string | symbol) => Reflect.get(started ?? {}, name) as unknown;
  return new Proxy({} as T, { get });
}

/** An rpc that fails with this error. */
export const throwing = (error: Error) => (): never => {
  throw error;
};

export interface Facts {
  readonly principal?: Partial<Omit<Principal, 'grant'>>;
  /** Null when consent was not asked. */
  readonly grant?: Partial<GrantFacts> | null;
}

/** The answer of authorization about a live token with every scope, unless the test overrides it. */
export function liveToken({ principal, grant = {} }: Facts = {}) {
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  const facts = { status: GrantStatus.ACTIVE, scopes: [...SCOPE_NAMES], expiresAt, userId: 'ada' };
  return create(IntrospectResponseSchema, {
    status: TokenStatus.LIVE,
    ledgerChecked: true,
    assertion: 'assertion-1',
    principal: {
      clientId: 'app_one',
      userId: 'ada',
      grantId: 'grt_one',
      familyId: 'fam_one',
      scopes: [...SCOPE_NAMES],
      expiresAt,
      ...(grant === null ? {} : { grant: Object.assign(create(GrantFactsSchema, facts), grant) }),
      ...principal,
    },
  });
}

/** An answer of health-data. */
export function documentOf(body: unknown, { etag = '"e1"', total = 1 } = {}) {
  return { body: new TextEncoder().encode(JSON.stringify(body)), etag, total };
}

/** The header field with the given access token, or with a new one. */
export function bearer(token: string = newSecret('access_token')): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Sends a request so many times, one after the other, and returns the statuses of the answers. */
export async function repeatRequest(
  gateway: TestGateway,
  path: string,
  count: number,
  init: RequestInit,
): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i += 1) statuses.push((await gateway.fetch(path, init)).status);
  return statuses;
}

/** Sends a request and returns the whole response as it comes over the wire, with its Date replaced. */
export async function exchangeRaw(port: number, head: string, body = ''): Promise<string> {
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket
    .on('data', (chunk) => chunks.push(chunk))
    .on('error', reject)
    .on('close', () => resolve());
  socket.write(`${head}\r\nHost: gateway.test\r\n${length}Connection: close\r\n\r\n${body}`);
  await promise;
  return Buffer.concat(chunks)
    .toString('latin1')
    .replace(/\r\nDate: [^\r]*/, '\r\nDate: now');
}

/** The uniform 401 of every surface with problem documents. */
export const UNIFORM_PROBLEM = `HTTP/1.1 401 Unauthorized\r
Content-Type: application/problem+json\r
WWW-Authenticate: Bearer realm="phds", DPoP realm="phds", algs="ES256 EdDSA Ed25519 PS256"\r
Cache-Control: no-store\r
X-Content-Type-Options: nosniff\r
Content-Length: 125\r
Date: now\r
Connection: close\r
\r
{"type":"/problems/unauthorized","title":"Unauthorized","status":401,"code":"UNAUTHORIZED","detail":"Authentication failed."}`;

/** A raw answer without what differs from request to request: its id, and the state and size of limits. */
export function withoutVariations(raw: string): string {
  return raw
    .replaceAll(/req_[0-9A-Za-z]+/g, 'req')
    .replace(/(RateLimit: "[a-z-]+";r=)[1-9]\d*;t=\d+/, '$1n;t=s')
    .replace(/r=0;t=\d+/, 'r=0;t=s')
    .replace(/Retry-After: (?!1\r)\d+/, 'Retry-After: s')
    .replace(/q=\d+/, 'q=n');
}
