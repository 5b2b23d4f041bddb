import { startPeriodic } from '@phds/service-kit/background';
import { closeHttp, createProbeServer, listenHttp } from '@phds/service-kit/probes';
import { ConfigError, readConfig } from '@phds/service-kit/settings/config';
import { Metrics } from '@phds/service-kit/telemetry/metrics';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { Surrounded } from '../shell.ts';
import { EXIT_DONE, EXIT_FAILED } from './command.ts';

/** The settings of `phds probe`. */
const probeSettings = z.object({
  PROBE_CLIENT_ID: z.string().describe('Client id of the app.'),
  PROBE_CLIENT_SECRET: z.string().describe('Its secret.'),
  PROBE_SESSION: z.string().describe('A session of the person. A file is read again at each round.'),
});

interface Options {
  readonly redirectUri: string;
  readonly every?: number;
  readonly metricsPort: number;
}

/** Adds `phds probe`. */
export function addProbe(program: Command, { finish, env, output, errors }: Surrounded): void {
  program
    .command('probe')
    .description(
      'Connects an app, reads, revokes and reads again, from outside, and expects that nothing more is read (docs/operations/observability.md). Once, or until SIGINT or SIGTERM.',
    )
    .argument('<url>', 'public address of the service', parseUrl)
    .addOption(new Option('--every <interval>', 'repeat: 30s, 5m').argParser(parseInterval))
    .addOption(
      new Option('--metrics-port <port>', 'where a repeated probe serves /metrics')
        .argParser(parsePort)
        .default(9464),
    )
    .addOption(
      new Option('--redirect-uri <uri>', 'a redirect URI of the app').default(
        'http://localhost:9999/callback',
      ),
    )
    .action(async (url: string, { redirectUri, every, metricsPort }: Options) => {
      const metrics = new Metrics({ service: 'probe' });
      const measured = measureProbe(metrics);
      const round = async (signal: AbortSignal): Promise<Outcome> => {
        const settings = readConfig(probeSettings, env);
        const { PROBE_CLIENT_ID: clientId, PROBE_CLIENT_SECRET: clientSecret } = settings;
        const target = { url, redirectUri, clientId, clientSecret, session: settings.PROBE_SESSION };
        const result = await probe(target, { signal, onStep: measured.onStep });
        if (signal.aborted) return result;
        measured.onRound(result);
        (result.outcome === 'ok' ? output : errors).write(
          `${JSON.stringify({ time: new Date(), ...result })}\n`,
        );
        return result;
      };
      try {
        readConfig(probeSettings, env);
        if (every === undefined) {
          const { outcome } = await round(new AbortController().signal);
          return finish(outcome === 'ok' ? EXIT_DONE : EXIT_FAILED);
        }
        await using running = new AsyncDisposableStack();
        const server = running.adopt(createProbeServer({ isReady: async () => true, metrics }), closeHttp);
        await listenHttp(server, '::', metricsPort);
        const onFailure = (error: unknown) => errors.write(`${(error as Error).message}\n`);
        running.use(startPeriodic(round, { intervalMs: every, atOnce: true, onFailure }));
        await untilSignal();
        finish(EXIT_DONE);
      } catch (error) {
        if (!(error instanceof ConfigError) && (error as NodeJS.ErrnoException).code === undefined)
          throw error;
        errors.write(`${(error as Error).message}\n`);
        finish(EXIT_FAILED);
      }
    });
}

function untilSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve());
  return promise;
}

function parseUrl(value: string): string {
  const url = URL.parse(value);
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new InvalidArgumentError('It must be http:// or https:// and a host, without a path.');
}

function parseInterval(value: string): number {
  const [, number, unit] = /^(\d{1,4})(s|m)$/.exec(value) ?? [];
  const milliseconds = Number(number) * (unit === 'm' ? 60_000 : 1_000);
  if (milliseconds >= 1_000 && milliseconds <= 3_600_000) return milliseconds;
  throw new InvalidArgumentError('It must be from 1s to 60m, such as 30s.');
}

function parsePort(value: string): number {
  const port = Number(value);
  if (/^\d{1,5}$/.test(value) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a port.');
}

/** The app and the person with whom the probe acts. */
interface ProbeTarget {
  /** The public address of the service, without a path. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  /** A session of the person. */
  readonly session: string;
}

/** The steps of a round, in order. */
const STEPS = ['connect', 'read', 'revoke', 'refused'] as const;
type Step = (typeof STEPS)[number];

/** How a round ended. `stale`: data was answered after the revocation was acknowledged. */
export type Outcome =
  | { readonly outcome: 'ok' | 'stale' }
  | { readonly outcome: 'failed'; readonly step: Step; readonly reason: string };

const SCOPE = 'read:health-data:heart';
const READ = '/api/v1/health-data/heart?pageSize=1';
const DEADLINE_MS = 10_000;

/**
 * Connects the app as the person, reads, lets the person revoke the connection, and reads again with the same token, which has to be
 * answered like a token that never existed. Never rejects.
 */
export async function probe(
  target: ProbeTarget,
  { signal, onStep }: { signal: AbortSignal; onStep: (step: Step, seconds: number) => void },
): Promise<Outcome> {
  const { url, clientId, clientSecret, redirectUri, session } = target;
  const app = { client_id: clientId, client_secret: clientSecret, redirect_uri: redirectUri };
  const send = async (path: string, method: string, bearer: string | null, body?: object) => {
    const answer = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]),
    });
    return { status: answer.status, text: await answer.text() };
  };
  /** The body of a success. The error has only the status, because a body may contain a token. */
  const expect = async (path: string, method: string, bearer: string | null, body?: object) => {
    const { status, text } = await send(path, method, bearer, body);
    if (status >= 300) throw new Error(`${method} ${path.split('?')[0]} was answered with ${status}`);
    return JSON.parse(text);
  };
  let step: Step = 'connect';
  const take = async <T>(next: Step, run: () => Promise<T>): Promise<T> => {
    step = next;
    const startedAt = performance.now();
    const result = await run();
    onStep(next, (performance.now() - startedAt) / 1000);
    return result;
  };
  try {
    const { token, grantId } = await take('connect', async () => {
      const asked = await expect('/oauth/authorize', 'POST', null, { ...app, scope: SCOPE });
      const { data } = await expect(
        `/partner/consent/pending/${asked.pending_id}/approve`,
        'POST',
        session,
        {},
      );
      const code = new URL(data.redirectUri).searchParams.get('code');
      const grant = { ...app, grant_type: 'authorization_code', code };
      const { access_token: token } = await expect('/oauth/token', 'POST', null, grant);
      return { token, grantId: data.grantId };
    });
    await take('read', () => expect(READ, 'GET', token));
    await take('revoke', () => expect(`/partner/consent/grants/${grantId}`, 'DELETE', session));
    const refused = await take('refused', () => send(READ, 'GET', token));
    if (refused.status < 300) return { outcome: 'stale' };
    const unknown = await send(READ, 'GET', 'never-issued');
    if (refused.status === 401 && refused.text === unknown.text) return { outcome: 'ok' };
    throw new Error(`answered ${refused.status}, or another body than a token that never existed`);
  } catch (error) {
    const { message, cause } = error as Error;
    return { outcome: 'failed', step, reason: cause instanceof Error ? cause.message || message : message };
  }
}

/** Exports the results of rounds. */
export function measureProbe(metrics: Metrics) {
  const stale = metrics.counter({
    name: 'phds_stale_after_ack_total',
    help: 'Rounds of the probe in which data was answered after the revocation was acknowledged.',
  });
  const runs = metrics.counter({
    name: 'phds_probe_runs_total',
    help: 'Rounds of the probe.',
    labels: ['outcome'],
  });
  const lastSuccess = metrics.gauge({
    name: 'phds_probe_last_success_timestamp_seconds',
    help: 'Unix time of the last round without a failure; 0 before the first.',
  });
  const durations = metrics.histogram({
    name: 'phds_probe_step_duration_seconds',
    help: 'Duration of the completed steps of the probe.',
    labels: ['step'],
  });
  for (const outcome of ['ok', 'failed', 'stale']) runs.inc({ outcome }, 0);
  for (const step of STEPS) durations.zero({ step });
  return {
    onStep: (step: Step, seconds: number) => durations.observe({ step }, seconds),
    onRound({ outcome }: Outcome): void {
      runs.inc({ outcome });
      if (outcome === 'stale') stale.inc();
      if (outcome === 'ok') lastSuccess.set(Date.now() / 1000);
    },
  };
}
