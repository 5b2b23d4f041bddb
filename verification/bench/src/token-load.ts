// Generates the load of token requests in a separate process.
import { Agent } from 'undici';
import { summarize } from './latencies.ts';
import { type LoadResult, serveLoad } from './load-program.ts';
import type { TokenJob } from './token-job.ts';

type Form = Readonly<Record<string, string>>;
// biome-ignore lint/suspicious/noExplicitAny: two servers answer, and every field is checked where it is used
type Answer = any;

/** Sends the next request; returns false when there is none. Throws when the answer is not the expected one. */
type Step = () => Promise<boolean>;

async function run(steps: readonly Step[], seconds: number): Promise<LoadResult> {
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
  const { count, p50, p99 } = summarize(milliseconds);
  const perSecond = count / ((performance.now() - begun) / 1000);
  return { requests: count, perSecond, p50: Math.round(p50), p99: Math.round(p99), failures };
}

/** What each connection sends. */
async function prepare(agent: Agent, job: TokenJob): Promise<Step[]> {
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

/** Posts a form and returns the JSON of the answer. Throws when the status is not 200. Uses callbacks, like read.ts. */
function postForm(agent: Agent, url: string, form: Form): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { origin, pathname } = new URL(url);
  const chunks: Buffer[] = [];
  let status = 0;
  agent.dispatch(
    {
      origin,
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    },
    {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, statusCode) => {
        status = statusCode;
      },
      onResponseData: (_controller, chunk) => {
        chunks.push(chunk);
      },
      onResponseEnd: () => {
        const text = Buffer.concat(chunks).toString();
        if (status === 200) resolve(JSON.parse(text));
        else reject(new Error(`status ${status}: ${text}`));
      },
      onResponseError: (_controller, error) => reject(error),
    },
  );
  return promise;
}

serveLoad(async (job: TokenJob) => {
  const agent = new Agent({ connections: job.connections, pipelining: 1 });
  const steps = await prepare(agent, job);
  return () => run(steps, job.seconds).finally(() => agent.close());
});
