import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { SELF_TEST_APP } from '@phds/catalog/sandbox';
import type { Clock } from '@phds/service-kit/clock';
import { toAppError } from '@phds/service-kit/errors';
import { startPeriodic } from '@phds/service-kit/periodic';
import type { Logger } from '@phds/service-kit/telemetry/log';
import type { Metrics } from '@phds/service-kit/telemetry/metrics';

export interface SelfTestOptions {
  readonly app: SelfTestApp;
  /** Milliseconds between two rounds. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Rounds of two gateways that start at once would meet each time if their intervals were equal. */
const SPREAD = 0.1;

/** Repeats the self-test of this gateway until disposal, and exports and logs its results. */
export function startSelfTest({ app, intervalMs, clock, metrics, log }: SelfTestOptions): AsyncDisposable {
  const measure = measureSelfTest(metrics, clock);
  const round = async (signal: AbortSignal) => {
    const result = await runSelfTestRound(app, { signal, onStep: measure.step });
    if (signal.aborted) return;
    measure.round(result.outcome);
    report(result, log);
  };
  return startPeriodic(round, {
    intervalMs: Math.round(intervalMs * (1 + SPREAD * (Math.random() - 0.5))),
    onFailure: (err) => log.error({ err }, 'the self-test failed unexpectedly'),
  });
}

function report(result: SelfTestResult, log: Logger): void {
  if (result.outcome === 'stale') {
    log.error('self-test: data was answered after the end of the grant was acknowledged');
  } else if (result.outcome === 'failed') {
    log.warn({ step: result.step, err: result.cause }, 'self-test: a step failed');
  }
}

/** Base URL of the port at which a gateway on this host listens, which may be every address of the machine. */
export function toOwnUrl({
  host,
  port,
  isSecure = false,
}: {
  readonly host: string;
  readonly port: number;
  readonly isSecure?: boolean;
}): string {
  // `::` listens on IPv4 too, and a container may have no address of IPv6.
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http${isSecure ? 's' : ''}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** The steps of a round, in order. */
const SELF_TEST_STEPS = ['grant', 'read', 'revoke', 'refused'] as const;
type SelfTestStep = (typeof SELF_TEST_STEPS)[number];

/** `stale`: data was answered after the end of the grant was acknowledged. */
const SELF_TEST_OUTCOMES = ['ok', 'failed', 'stale'] as const;

/** How a round ended, for the log. */
type SelfTestResult =
  | { readonly outcome: 'ok' | 'stale' }
  | { readonly outcome: 'failed'; readonly step: SelfTestStep; readonly cause: Error };

/** The sandbox app that a round acts for, and the gateway. */
interface SelfTestApp {
  /** Base URL of the gateway under test. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

interface SelfTestRoundOptions {
  readonly signal: AbortSignal;
  /** Receives the duration of each step that was completed. */
  readonly onStep: (step: SelfTestStep, seconds: number) => void;
}

/** A sandbox person with few readings. */
const PERSON = 'ben';
const DEADLINE_MS = 5_000;

/**
 * Does what a partner app does, over HTTP: lets a sandbox person grant access, reads, ends the grant, and reads again with the same token,
 * which the gateway has cached by then. Never rejects.
 */
export async function runSelfTestRound(
  app: SelfTestApp,
  { signal, onStep }: SelfTestRoundOptions,
): Promise<SelfTestResult> {
  let step: SelfTestStep = 'grant';
  const take = async <T>(next: SelfTestStep, run: () => Promise<T>): Promise<T> => {
    step = next;
    const startedAt = performance.now();
    const result = await run();
    onStep(next, (performance.now() - startedAt) / 1000);
    return result;
  };
  const requests = new Requests(app, signal);
  try {
    const { token, grantId } = await take('grant', () => requests.connect());
    await take('read', async () => expectStatus(200, await requests.read(token)));
    await take('revoke', () => requests.endGrant(grantId));
    const { status } = await take('refused', () => requests.read(token));
    if (status === 200) return { outcome: 'stale' };
    expectStatus(401, { status });
    return { outcome: 'ok' };
  } catch (caught) {
    return { outcome: 'failed', step, cause: caught instanceof Error ? caught : toAppError(caught) };
  }
}

/** Contains the status only: a body may contain a token. */
function expectStatus(expected: number, { status }: { readonly status: number }): void {
  if (status !== expected) throw new Error(`answered ${status} in place of ${expected}`);
}

/** What a partner app sends. */
class Requests {
  readonly #app: SelfTestApp;
  readonly #signal: AbortSignal;

  constructor(app: SelfTestApp, signal: AbortSignal) {
    this.#app = app;
    this.#signal = signal;
  }

  async connect(): Promise<{ token: string; grantId: string }> {
    const pushed = await this.#post(201, '/oauth/authorize', {
      redirect_uri: SELF_TEST_APP.redirectUri,
      scope: SELF_TEST_APP.scope,
      login_hint: PERSON,
    });
    const query = new URLSearchParams({ client_id: this.#app.clientId, request_uri: pushed('request_uri') });
    const answer = await this.#send(`/oauth/authorize?${query}`);
    await answer.arrayBuffer();
    expectStatus(303, answer);
    const callback = URL.parse(answer.headers.get('location') ?? '');
    const tokens = await this.#post(200, '/oauth/token', {
      grant_type: 'authorization_code',
      code: callback?.searchParams.get('code') ?? '',
      redirect_uri: SELF_TEST_APP.redirectUri,
    });
    return { token: tokens('access_token'), grantId: tokens('grant_id') };
  }

  async read(token: string): Promise<{ status: number }> {
    const answer = await this.#send('/api/v1/health-data/heart?pageSize=1', { headers: bearer(token) });
    await answer.arrayBuffer();
    return answer;
  }

  /** Returns when the end is acknowledged. */
  async endGrant(id: string): Promise<void> {
    const own = await this.#post(200, '/oauth/token', { grant_type: 'client_credentials' });
    const headers = bearer(own('access_token'));
    const answer = await this.#send(`/oauth/grants/${id}`, { method: 'DELETE', headers });
    await answer.arrayBuffer();
    expectStatus(200, answer);
  }

  /** Returns a reader of the text members of the answer. */
  async #post(status: number, path: string, body: object): Promise<(member: string) => string> {
    const { clientId, clientSecret } = this.#app;
    const answer = await this.#send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_id: clientId, client_secret: clientSecret, ...body }),
    });
    const text = await answer.text();
    expectStatus(status, answer);
    const members = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return (member) => String(members[member]);
  }

  #send(path: string, init: RequestInit = {}): Promise<Response> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(DEADLINE_MS)]);
    const url = this.#app.url + path;
    return url.startsWith('https:')
      ? fetchFromItself(url, { ...init, signal })
      : fetch(url, { redirect: 'manual', ...init, signal });
  }
}

/** The certificate is not for the address of this machine. What listens there is this process. */
function fetchFromItself(
  url: string,
  { method = 'GET', headers, body, signal }: RequestInit,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const options = { method, headers: { ...(headers as Record<string, string>) }, rejectUnauthorized: false };
  request(url, { ...options, ...(signal && { signal }) }, (answer) => {
    const {
      statusCode: status = 0,
      headers: { location = '' },
    } = answer;
    const toResponse = (bytes: Buffer) =>
      new Response(new Uint8Array(bytes), { status, headers: { location } });
    buffer(answer).then(toResponse).then(resolve, reject);
  })
    .on('error', reject)
    .end(body);
  return promise;
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Exports the results of the self-test. */
function measureSelfTest(metrics: Metrics, clock: Clock) {
  const stale = metrics.counter({
    name: 'phds_stale_after_ack_total',
    help: 'Rounds of the self-test in which data was answered after the end of the grant was acknowledged.',
  });
  const rounds = metrics.counter({
    name: 'phds_self_test_runs_total',
    help: 'Rounds of the self-test.',
    labels: ['outcome'],
  });
  const lastSuccess = metrics.gauge({
    name: 'phds_self_test_last_success_timestamp_seconds',
    help: 'Unix time of the last round without a failure; 0 before the first.',
  });
  const durations = metrics.histogram({
    name: 'phds_self_test_step_duration_seconds',
    help: 'Duration of the completed steps of the self-test.',
    labels: ['step'],
  });
  for (const outcome of SELF_TEST_OUTCOMES) rounds.inc({ outcome }, 0);
  for (const step of SELF_TEST_STEPS) durations.zero({ step });
  return {
    step: (step: SelfTestStep, seconds: number) => durations.observe({ step }, seconds),
    round(outcome: SelfTestResult['outcome']) {
      rounds.inc({ outcome });
      if (outcome === 'stale') stale.inc();
      if (outcome === 'ok') lastSuccess.set(clock.now().getTime() / 1000);
    },
  };
}
