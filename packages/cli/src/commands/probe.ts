import type { Metrics } from '@phds/service-kit/telemetry/metrics';

/** The app and the person with whom the probe acts. */
export interface ProbeTarget {
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
