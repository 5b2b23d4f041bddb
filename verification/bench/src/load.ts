// Generates load in a separate process, so that its CPU time is not attributed to the service. It receives a job over IPC, prepares
// it, reports that, starts on request, and returns the result. What preparing costs the service is not measured.
import { createHash, createPrivateKey, randomUUID, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { arrive, summarize } from '@phds/guarantees/load/arrivals';
import autocannon from 'autocannon';
import { Agent } from 'undici';
import type { LoadJob, LoadResult, ReadJob, SteadyJob, TokenJob } from './load-job.ts';

const PATIENCE_MS = 10_000;
// As many connections as concurrent requests, so that no request waits for another.
const steadyAgent = new Agent({ pipelining: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });

type Form = Readonly<Record<string, string>>;
// biome-ignore lint/suspicious/noExplicitAny: two servers answer, and every field is checked where it is used
type Answer = any;

/** Sends the next request; returns false when there is none. Throws when the answer is not the expected one. */
type Step = () => Promise<boolean>;

interface Target {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

function readTargets({ requestsFile }: Pick<ReadJob, 'requestsFile'>): () => Target {
  const targets = readFileSync(requestsFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [path = '/', token] = line.split(' ');
      return { path, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } };
    });
  return () => targets[Math.floor(Math.random() * targets.length)] as Target;
}

/** Adds a proof to each request, made at that moment: it takes a fifth of what the gateway needs to check it. */
function withProofs(pick: () => Target, { url, proofKey }: ReadJob): () => Target {
  if (proofKey === undefined) return pick;
  const key = createPrivateKey({ key: proofKey, format: 'jwk' });
  const { kty, crv, x, y } = proofKey;
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const head = encode({ alg: 'ES256', typ: 'dpop+jwt', jwk: { kty, crv, x, y } });
  return () => {
    const { path, headers } = pick();
    const token = headers['authorization']?.slice('Bearer '.length) ?? '';
    const ath = createHash('sha256').update(token).digest('base64url');
    const iat = Math.floor(Date.now() / 1000);
    const data = `${head}.${encode({ jti: randomUUID(), htm: 'GET', htu: url + path, iat, ath })}`;
    const signature = sign('sha256', Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }).toString(
      'base64url',
    );
    return { path, headers: { authorization: `DPoP ${token}`, dpop: `${data}.${signature}` } };
  };
}

async function readClosed(job: ReadJob): Promise<LoadResult> {
  const pick = withProofs(readTargets(job), job);
  const { requests, duration, latency, non2xx, errors, timeouts } = await autocannon({
    url: job.url,
    connections: job.connections,
    duration: job.seconds,
    requests: [{ setupRequest: (request) => ({ ...request, ...pick() }) }],
  });
  const failures = non2xx + errors + timeouts;
  if (failures > 0) console.error({ non2xx, errors, timeouts });
  const { p50, p99, max } = latency;
  const { total } = requests;
  return { requests: total, perSecond: total / duration, p50, p99, max, failures };
}

async function readSteadily(job: SteadyJob): Promise<LoadResult> {
  const pick = readTargets(job);
  const milliseconds: number[] = [];
  const failed = new Map<number, number>();
  const start = performance.now();
  await arrive(job, async (index, scheduled) => {
    const origin = job.gateways[index % job.gateways.length] ?? '';
    const { status } = await request(steadyAgent, { origin, method: 'GET', ...pick() });
    if (status === 200) milliseconds.push(performance.now() - scheduled);
    else failed.set(status, (failed.get(status) ?? 0) + 1);
  });
  if (failed.size > 0) console.error('answers by status, 0 for none:', failed);
  return {
    ...summarize(milliseconds),
    requests: milliseconds.length,
    perSecond: milliseconds.length / ((performance.now() - start) / 1000),
    failures: [...failed.values()].reduce((sum, count) => sum + count, 0),
  };
}

async function runSteps(steps: readonly Step[], seconds: number): Promise<LoadResult> {
  const milliseconds: number[] = [];
  let failures = 0;
  const begun = performance.now();
  const ends = begun + seconds * 1000;
  const worker = async (step: Step) => {
    for (let sent = begun; sent < ends; ) {
      sent = performance.now();
      try {
        if (!(await step())) return;
      } catch (error) {
        failures += 1;
        console.error(error);
        return;
      }
      milliseconds.push(performance.now() - sent);
    }
  };
  await Promise.all(steps.map(worker));
  const perSecond = milliseconds.length / ((performance.now() - begun) / 1000);
  return { ...summarize(milliseconds), requests: milliseconds.length, perSecond, failures };
}

/** What each connection sends. */
async function prepareSteps(agent: Agent, job: TokenJob): Promise<Step[]> {
  const { clientId, clientSecret, redirectUri, scope, codes } = job;
  const post = (url: string, form: Form): Promise<Answer> =>
    postForm(agent, url, { ...form, client_id: clientId, client_secret: clientSecret });
  const exchange = (code: string): Promise<Answer> =>
    post(job.tokenUrl, { grant_type: 'authorization_code', code, redirect_uri: redirectUri });
  const ofEach = (step: (n: number) => Step) => Array.from({ length: job.connections }, (_, n) => step(n));

  switch (job.request) {
    case 'client-credentials':
      return ofEach(() => async () => {
        expectText(await post(job.tokenUrl, { grant_type: 'client_credentials', scope }), 'access_token');
        return true;
      });
    case 'code': {
      const unused = [...codes];
      return ofEach(() => async () => {
        const code = unused.pop();
        if (code === undefined) return false;
        expectText(await exchange(code), 'refresh_token');
        return true;
      });
    }
    case 'refresh': {
      const answers = await Promise.all(codes.slice(0, job.connections).map(exchange));
      const tokens = answers.map((answer) => expectText(answer, 'refresh_token'));
      return ofEach((n) => async () => {
        const form = { grant_type: 'refresh_token', refresh_token: tokens[n] ?? '' };
        tokens[n] = expectText(await post(job.tokenUrl, form), 'refresh_token', tokens[n]);
        return true;
      });
    }
    case 'introspection': {
      const answers = await Promise.all(codes.map(exchange));
      const tokens = answers.map((answer) => expectText(answer, 'access_token'));
      return ofEach(() => async () => {
        const token = tokens[Math.floor(Math.random() * tokens.length)] ?? '';
        const answer = await post(job.introspectionUrl, { token });
        if (answer.active !== true || answer.scope !== scope) throw new Error(describe(answer));
        return true;
      });
    }
  }
}

/** The text in this field, which must be new. */
function expectText(answer: Answer, field: string, earlier?: string): string {
  const text: unknown = answer[field];
  if (typeof text !== 'string' || text === '' || text === earlier) throw new Error(describe(answer));
  return text;
}

function describe(answer: Answer): string {
  return `unexpected answer: ${JSON.stringify(answer)}`;
}

/** Posts a form and returns the JSON of the answer. Throws when the status is not 200. */
async function postForm(agent: Agent, url: string, form: Form): Promise<Answer> {
  const { origin, pathname: path } = new URL(url);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams(form).toString();
  const { status, text } = await request(agent, { origin, path, method: 'POST', headers, body });
  if (status === 200) return JSON.parse(text);
  throw new Error(`status ${status}: ${text}`);
}

/** The whole response; status 0 for none. Uses callbacks, because the load shares the machine with its target. */
function request(
  agent: Agent,
  options: Parameters<Agent['dispatch']>[0],
): Promise<{ status: number; text: string }> {
  const { promise, resolve } = Promise.withResolvers<{ status: number; text: string }>();
  const chunks: Buffer[] = [];
  let status = 0;
  agent.dispatch(options, {
    onRequestStart: () => undefined,
    onResponseStart: (_controller, statusCode) => {
      status = statusCode;
    },
    onResponseData: (_controller, chunk) => {
      chunks.push(chunk);
    },
    onResponseEnd: () => resolve({ status, text: Buffer.concat(chunks).toString() }),
    onResponseError: (_controller, error) => resolve({ status: 0, text: String(error) }),
  });
  return promise;
}

async function prepare(job: LoadJob): Promise<() => Promise<LoadResult>> {
  if ('gateways' in job) return () => readSteadily(job);
  if (!('request' in job)) return () => readClosed(job);
  const agent = new Agent({ connections: job.connections, pipelining: 1 });
  const steps = await prepareSteps(agent, job);
  return () => runSteps(steps, job.seconds).finally(() => agent.close());
}

function fail(error: unknown): LoadResult {
  console.error(error);
  return { ...summarize([]), requests: 0, perSecond: 0, failures: 1 };
}

let start = async () => fail(new Error('nothing is prepared'));
process.on('message', async (message: LoadJob | 'start') => {
  if (message === 'start') return void process.send?.(await start().catch(fail));
  start = await prepare(message).catch((error: unknown) => async () => fail(error));
  process.send?.('prepared');
});
process.on('disconnect', () => process.exit(0));
