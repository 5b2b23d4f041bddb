import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { HEART } from '@phds/running-system/revocation-ways';
import { connectPerson, HEART_PATH } from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { count } from '../load/reads.ts';
import { killAll } from '../processes.ts';
import type { Fault, Site } from './fault.ts';

const PARALLEL = 4;
const START = { timeoutMs: 20_000, intervalMs: 100 } as const;
const NEW_CERTIFICATE =
  'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -subj /CN=localhost'.split(' ');
const AGENT = new Agent({ keepAlive: true, rejectUnauthorized: false });

/** Whether this machine has haproxy. */
export function hasBalancer(): boolean {
  return spawnSync('haproxy', ['-v']).status === 0;
}

/**
 * The fault with people who read through deploy/haproxy meanwhile. It repeats reads that a gateway left unanswered, but none with a proof,
 * because the first gateway may have used the proof up: no request is answered 401.
 */
export function behindBalancer(fault: Fault): Fault {
  return {
    ...fault,
    name: `${fault.name}-behind-haproxy`,
    what: `${fault.what} behind haproxy, which repeats reads without a proof`,
    needs: 'haproxy',
    play: async (site) => {
      await using balancer = await startBalancer(site);
      const { app, session, tokens } = await connectPerson(site.stack, 'balanced');
      const bound = app.boundTo(await createProofKey());
      const { accessToken } = await bound.connect(session, [HEART]);
      const read = (how: 'bearer' | 'bound') =>
        how === 'bearer'
          ? app.present(tokens.accessToken, HEART_PATH)
          : bound.present(accessToken, HEART_PATH);
      const results: Record<string, number> = {};
      let over = false;
      const readers = Array.from({ length: 2 * PARALLEL }, async (_, index) => {
        const how = index % 2 === 0 ? 'bearer' : 'bound';
        while (!over) count(results, `${how} ${await get(balancer.url + HEART_PATH, await read(how))}`);
      });
      await fault.play(site).finally(() => {
        over = true;
      });
      await Promise.all(readers);
      site.say(`through haproxy: ${JSON.stringify(results)}`);
      for (const how of ['bearer', 'bound']) {
        if (results[`${how} 401`] !== undefined || results[`${how} 200`] === undefined) {
          throw new Error(`through haproxy: ${JSON.stringify(results)}`);
        }
      }
    },
  };
}

/** Starts haproxy with the configuration of deploy/haproxy; ready when a gateway answers through it. */
async function startBalancer({ stack }: Site): Promise<AsyncDisposable & { readonly url: string }> {
  const directory = join(dirname(stack.logs), 'haproxy');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const [certificate, gateways] = [join(directory, 'certificate.pem'), join(directory, 'gateways.cfg')];
  execFileSync('openssl', [...NEW_CERTIFICATE, '-out', certificate, '-keyout', `${certificate}.key`], {
    stdio: 'pipe',
  });
  const servers = stack.gatewayUrls.map((url, index) => `  server gateway-${index + 1} ${new URL(url).host}`);
  await writeFile(gateways, `${['backend gateways', '  balance roundrobin', ...servers].join('\n')}\n`);
  const [port, plain] = [await leasePort(), await leasePort()];
  const env = {
    PHDS_BIND: `127.0.0.1:${port}`,
    PHDS_PLAIN_BIND: `127.0.0.1:${plain}`,
    PHDS_CERTIFICATE: certificate,
  };
  const log = openSync(join(stack.logs, 'haproxy.log'), 'a');
  const deployed = join(repositoryRoot, 'deploy/haproxy/haproxy.cfg');
  const haproxy = spawn('haproxy', ['-f', deployed, '-f', gateways], {
    env: { ...process.env, ...env },
    stdio: ['ignore', log, log],
  });
  const url = `https://localhost:${port}`;
  const stop = () => killAll(haproxy.pid === undefined ? [] : [haproxy.pid]);
  await eventually(async () => (await get(`${url}/livez`, {})) === 200, START).catch(async (error) => {
    await stop();
    throw error;
  });
  return { url, [Symbol.asyncDispose]: stop };
}

/** The status of a GET; 0 when there is no answer. */
function get(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  request(url, { agent: AGENT, headers, family: 4 }, (response) => {
    response.resume().on('close', () => resolve(response.statusCode ?? 0));
  })
    .on('error', () => resolve(0))
    .end();
  return promise;
}
