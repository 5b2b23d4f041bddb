import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '@phds/local-servers/free-port';
import { Agent, fetch } from 'undici';

const CONFIGURATION = resolve(import.meta.dirname, '../../../../deploy/haproxy/haproxy.cfg');

export interface Proxy extends AsyncDisposable {
  /** Base URL, with TLS. */
  readonly url: string;
  readonly pid: number;
}

/** Makes a certificate for localhost that is its own authority; returns its file and that with the key. */
export function makeCertificate(directory: string): { authority: string; certificate: string } {
  const [authority, key, certificate] = ['authority.pem', 'key.pem', 'haproxy.pem'].map((name) =>
    join(directory, name),
  );
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '30'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-keyout', key ?? '', '-out', authority ?? ''];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'ignore' });
  writeFileSync(certificate ?? '', `${readFileSync(authority ?? '')}${readFileSync(key ?? '')}`, {
    mode: 0o600,
  });
  return { authority: authority ?? '', certificate: certificate ?? '' };
}

/** Starts haproxy with the configuration in `deploy/` in front of these gateways, and waits until it serves them. */
export async function startProxy(
  directory: string,
  certificate: { readonly authority: string; readonly certificate: string },
  gateways: readonly string[],
): Promise<Proxy> {
  const [port, plainPort] = [await findFreePort(), await findFreePort()];
  const servers = join(directory, `gateways-${port}.cfg`);
  const lines = gateways.map((address, index) => `    server gateway-${index + 1} ${address}`);
  writeFileSync(servers, `${['backend gateways', '    balance roundrobin', ...lines].join('\n')}\n`);
  const child = spawn('haproxy', ['-db', '-f', CONFIGURATION, '-f', servers], {
    env: {
      PATH: process.env['PATH'],
      PHDS_BIND: `127.0.0.1:${port}`,
      PHDS_PLAIN_BIND: `127.0.0.1:${plainPort}`,
      PHDS_CERTIFICATE: certificate.certificate,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const failed = once(child, 'error').then(([cause]) => {
    throw new Error('haproxy cannot be started; install it (Debian: haproxy)', { cause });
  });
  const url = `https://localhost:${port}`;
  await Promise.race([failed, untilServed(url, readFileSync(certificate.authority, 'utf8'))]);
  return {
    url,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

const POLL_MS = 100;
const ATTEMPTS = 300;

async function untilServed(url: string, ca: string): Promise<void> {
  await using dispatcher = Object.assign(new Agent({ connect: { ca } }), {
    [Symbol.asyncDispose](this: Agent) {
      return this.close();
    },
  });
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const status = await fetch(`${url}/readyz`, { dispatcher }).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    await delay(POLL_MS);
  }
  throw new Error('haproxy serves no gateway');
}
