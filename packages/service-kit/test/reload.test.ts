import { readFileSync, renameSync, symlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { describeWithCertificates } from '@phds/test-kit/certificates';
import { Scrape } from '@phds/test-kit/scrape';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import { z } from 'zod';
import { createAuthority } from '../src/keys/authority.ts';
import { toRpcServerOptions } from '../src/rpc/server.ts';
import type { TlsFiles } from '../src/rpc/tls.ts';
import { readConfig } from '../src/settings/config.ts';
import { openReloads, type Reloads } from '../src/settings/reload.ts';
import { callerSettings, commonSettings, rpcSettings, tlsSettings } from '../src/settings/settings.ts';
import { Metrics } from '../src/telemetry/metrics.ts';
import { createServiceTokenSource } from '../src/trust/callers.ts';
import { openUnary, serve } from './read-service.ts';

/** A mounted secret as the kubelet keeps it: files that lead through the link `..data`, which it replaces. */
class Mount {
  readonly #directory: string;
  #versions = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  file(name: string): string {
    return join(this.#directory, '..data', name);
  }

  async replace(files: Readonly<Record<string, string>>): Promise<void> {
    this.#versions += 1;
    const version = join(this.#directory, `..${this.#versions}`);
    await mkdir(version);
    for (const [name, text] of Object.entries(files)) await writeFile(join(version, name), text);
    const link = join(this.#directory, '..data_tmp');
    symlinkSync(version, link);
    renameSync(link, join(this.#directory, '..data'));
  }
}

let directory: string;
let mount: Mount;
let metrics: Metrics;
let lines: string[];
let reloads: Reloads;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'phds-mount-'));
  mount = new Mount(directory);
  metrics = new Metrics({ service: 'one' });
  lines = [];
});
afterEach(async () => {
  await reloads[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

function open(config: object): Reloads {
  const line = (_fields: object, text: string) => void lines.push(text);
  reloads = openReloads(config, {
    metrics,
    log: { info: line, error: line } as never,
    intervalMs: 3_600_000,
  });
  return reloads;
}

const sumOf = async (name: string) => new Scrape(await metrics.text()).sum(name);
const failures = () => sumOf('phds_background_failures_total');

/** The certificate that a port shows to a new connection; null if it refuses the client's. */
function whatIsShown(port: number, { ca, cert, key }: TlsFiles): Promise<string | null> {
  const socket = connect({ port, host: '127.0.0.1', ca, cert, key, ALPNProtocols: ['h2'] });
  return new Promise<string | null>((resolve) => {
    // A server refuses the client's certificate after the client has connected.
    socket.once('data', () => resolve(socket.getPeerX509Certificate()?.toString().trim() ?? null));
    socket.once('error', () => resolve(null)).once('close', () => resolve(null));
  }).finally(() => socket.destroy());
}

// A certificate for 127.0.0.1 and its authority, valid until 2099, used only by tests.
const readPem = (name: string) => readFileSync(new URL(`fixtures/tls/${name}`, import.meta.url), 'utf8');
const first = { ca: readPem('ca.pem'), cert: readPem('service.pem'), key: readPem('service.key') };

describeWithCertificates('certificates that are replaced while a service runs', () => {
  test('are used for new connections of server and client, while open calls go on; broken ones are not', async () => {
    const other = createAuthority();
    const second = { ca: other.ca, ...other.issue('IP:127.0.0.1') };
    await mount.replace(first);
    const { tls } = open(
      readConfig(z.object(tlsSettings), {
        TLS_CA_FILE: mount.file('ca'),
        TLS_CERT_FILE: mount.file('cert'),
        TLS_KEY_FILE: mount.file('key'),
      }),
    );
    const finish = Promise.withResolvers<object>();
    const begun = Promise.withResolvers<void>();
    let calls = 0;
    const respond = async () => {
      calls += 1;
      if (calls > 1) return {};
      begun.resolve();
      return finish.promise;
    };
    await using server = await serve(respond, { tls: tls as TlsFiles });
    using unary = openUnary([server.rpcPort], { tls: tls as TlsFiles });
    const running = unary.read({});
    await begun.promise;
    expect(await whatIsShown(server.rpcPort, first)).toBe(first.cert.trim());
    const endOfFirst = await sumOf('phds_certificate_expiry_timestamp_seconds');

    await mount.replace(second);
    reloads.check();
    expect(await whatIsShown(server.rpcPort, second)).toBe(second.cert.trim());
    expect(await whatIsShown(server.rpcPort, { ...first, ca: second.ca })).toBeNull();
    await unary.read({});
    finish.resolve({});
    await running;
    expect(await sumOf('phds_certificate_expiry_timestamp_seconds')).toBeLessThan(endOfFirst);
    expect(lines).toEqual(['settings reloaded']);

    await mount.replace({ ...second, key: first.key });
    reloads.check();
    expect(lines).toHaveLength(1);
    for (let look = 0; look < 3; look += 1) reloads.check();
    expect(lines.slice(1)).toEqual([expect.stringMatching(/^changed settings are not usable.*TLS_CERT: /)]);
    expect(await failures()).toBe(3);
    expect(await whatIsShown(server.rpcPort, second)).toBe(second.cert.trim());
  });
});

test('public keys of callers are replaced while a service runs, unless one that it needs is missing', async () => {
  const generations = [
    createServiceKeys(['gateway', 'operator']),
    createServiceKeys(['gateway', 'operator']),
  ] as const;
  await mount.replace({ jwks: generations[0].jwks });
  const schema = z.object({
    ...commonSettings,
    ...callerSettings('gateway'),
    ...rpcSettings({ rpc: 0, probes: 0 }),
  });
  const env = {
    SERVICE_PUBLIC_KEYS_FILE: mount.file('jwks'),
    SERVICE_PRIVATE_KEY: generations[0].pem('gateway'),
  };
  const config = readConfig(schema, env);
  const { verifyCaller } = toRpcServerOptions(config, {
    service: 'consent',
    operatorRecord: {} as never,
    reloads: open(config),
  });
  const admits = async (generation: 0 | 1) => {
    const privateKeyPem = generations[generation].pem('gateway');
    const token = await createServiceTokenSource({ service: 'gateway', privateKeyPem })('consent');
    return verifyCaller(token).then(Boolean, () => false);
  };
  expect([await admits(0), await admits(1)]).toEqual([true, false]);
  await mount.replace({ jwks: generations[1].jwks });
  reloads.check();
  expect([await admits(0), await admits(1)]).toEqual([false, true]);
  const { keys } = JSON.parse(generations[0].jwks);
  await mount.replace({
    jwks: JSON.stringify({ keys: keys.filter(({ kid }: { kid: string }) => kid !== 'gateway') }),
  });
  for (let look = 0; look < 2; look += 1) reloads.check();
  expect([await admits(0), await admits(1)]).toEqual([false, true]);
  expect(lines.at(-1)).toContain('SERVICE_PUBLIC_KEYS: has no key of gateway');
});
