// Generates load in a separate process, so that its CPU time is not attributed to the service.
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { type LoadResult, serveLoad } from './load-program.ts';

export interface LoadJob {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** File with one request a line: a path, and optionally a space and a bearer token. */
  readonly requestsFile: string;
}

async function run(job: LoadJob): Promise<LoadResult> {
  const lines = readFileSync(job.requestsFile, 'utf8').trimEnd().split('\n');
  const targets = lines.map((line) => {
    const [path = '/', token] = line.split(' ');
    return { path, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } };
  });
  const result = await autocannon({
    url: job.url,
    connections: job.connections,
    duration: job.seconds,
    requests: [
      { setupRequest: (request) => ({ ...request, ...targets[Math.floor(Math.random() * targets.length)] }) },
    ],
  });
  return {
    requests: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failures: result.non2xx + result.errors + result.timeouts,
  };
}

serveLoad(async (job: LoadJob) => () => run(job));
