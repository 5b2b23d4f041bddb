import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthority } from '@phds/service-kit/keys/authority';
import { readConfig } from '@phds/service-kit/settings/config';
import { openReloads } from '@phds/service-kit/settings/reload';
import { Metrics } from '@phds/service-kit/telemetry/metrics';
import { describeWithCertificates } from '@phds/test-kit/certificates';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import express from 'express';
import { startHttpServer } from '../src/http/server.ts';
import { gatewaySettings } from '../src/settings.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

describeWithCertificates('HTTPS of the public port', () => {
  const authority = createAuthority();
  const [first, second] = [authority.issue('DNS:gateway'), authority.issue('DNS:gateway')];
  const trust = { ca: authority.ca, host: '127.0.0.1', servername: 'gateway' };
  let directory: string;
  let env: Record<string, string>;
  let gateway: TestGateway;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'phds-https-'));
    env = { PUBLIC_TLS_CERT_FILE: join(directory, 'cert'), PUBLIC_TLS_KEY_FILE: join(directory, 'key') };
    await write(first);
    gateway = await startTestGateway(env);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  async function write(pair: { readonly cert: string; readonly key: string }): Promise<void> {
    await writeFile(join(directory, 'cert'), pair.cert);
    await writeFile(join(directory, 'key'), pair.key);
  }

  async function ask(
    port: number,
    path: string,
  ): Promise<readonly [status: number | undefined, cert: string]> {
    const sent = request({ ...trust, port, path, agent: false }).end();
    const [answer] = await once(sent, 'response');
    return [answer.statusCode, answer.resume().socket.getPeerX509Certificate().toString().trim()];
  }

  test('answers requests and probes, and no plain HTTP', async () => {
    expect(await ask(gateway.port, '/livez')).toEqual([200, first.cert.trim()]);
    expect((await ask(gateway.port, '/api/v1/profile'))[0]).toBe(401);
    const plain = fetch(`http://127.0.0.1:${gateway.port}/livez`);
    await expect(plain).rejects.toMatchObject({
      cause: { code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) },
    });
  });

  test('is not configured by half of its settings, or by a key of another certificate', async () => {
    for (const [given, missing] of [
      ['PUBLIC_TLS_CERT', 'PUBLIC_TLS_KEY'],
      ['PUBLIC_TLS_KEY', 'PUBLIC_TLS_CERT'],
    ] as const) {
      await expect(startTestGateway({ [given]: 'PEM' })).rejects.toThrow(`${missing}: must be set`);
    }
    const mixed = startTestGateway({ PUBLIC_TLS_CERT: first.cert, PUBLIC_TLS_KEY: second.key });
    await expect(mixed).rejects.toThrow('PUBLIC_TLS_CERT and PUBLIC_TLS_KEY cannot be used together');
  });

  test('takes a renewed certificate, and disconnects a client that reads a few bytes at a time', async () => {
    await write(first);
    const config = readConfig(
      gatewaySettings.pick({ TLS_CERT: true, PUBLIC_TLS_CERT: true, PUBLIC_TLS_KEY: true }),
      env,
    );
    const log = { info: () => undefined, error: () => undefined };
    await using reloads = openReloads(config, { metrics: new Metrics({ service: 'gateway' }), log });
    const app = express();
    app.get('/small', (_request, response) => void response.end('small'));
    app.use((_request, response) => void response.end(Buffer.alloc(64 * 1024 * 1024)));
    const limits = {
      HOST: '127.0.0.1',
      PORT: 0,
      PUBLIC_URL: 'https://gateway',
      MAX_HEADER_BYTES: 16_384,
      MAX_CONNECTIONS: 10,
      STALLED_CONNECTION_MS: 200,
      KEEP_ALIVE_SECONDS: 75,
      MIN_READ_BYTES_PER_SECOND: 1_000_000_000,
    };
    const parts = { clock: new FakeClock(new Date()), reloads };
    await using server = await startHttpServer(app, { ...config, ...limits }, parts);
    await write(second);
    reloads.check();
    expect(await ask(server.port, '/small')).toEqual([200, second.cert.trim()]);

    const client = connect({ ...trust, port: server.port }).pause();
    let isOver = false;
    client.on('error', () => {
      isOver = true;
    });
    client.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => {
      client.read(64);
      client.write('\r\n');
      expect(isOver).toBe(true);
    });
  });
});
