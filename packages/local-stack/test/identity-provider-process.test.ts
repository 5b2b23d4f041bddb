import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { ensureKeyFiles } from '../src/key-files.ts';
import { ManagedProcess } from '../src/managed-process.ts';
import { findRandomPorts } from '../src/ports.ts';
import { toGatewayEnvironment, toIdentityProviderEnvironment } from '../src/service-environments.ts';
import { StockClient } from './fixtures/stock-client.ts';

test('the provider of the stack serves a client with the settings of any gateway, and prints nothing', async () => {
  await using cleanup = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'phds-idp-'));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const ports = await findRandomPorts(2);
  const context = { ports, keys: await ensureKeyFiles(directory), redisUrl: null };
  const logFile = join(directory, 'log');
  const url = `http://localhost:${ports.identityProvider}`;
  let logouts = 0;
  const firstGateway = createServer(({ url: path }, response) => {
    if (path === '/sign-out/back-channel') logouts += 1;
    response.end();
  });
  cleanup.defer(() => void firstGateway.close().closeAllConnections());
  await listenOnLoopback(firstGateway, ports.gateways[0]);

  const provider = new ManagedProcess({
    name: 'identity-provider',
    program: 'packages/local-stack/src/identity-provider/main.ts',
    env: { ...toIdentityProviderEnvironment(context, join(directory, 'users')), ID_TOKEN_SECONDS: '60' },
    logFile,
    readyUrl: `${url}/readyz`,
    notice: () => undefined,
  });
  cleanup.defer(() => provider.kill());
  await provider.start();

  const started = { url, directory, logouts: [], [Symbol.asyncDispose]: async () => undefined };
  for (const [index, port] of ports.gateways.entries()) {
    const settings = toGatewayEnvironment(context, index);
    const secret = (await readFile(settings['OIDC_CLIENT_SECRET_FILE'] ?? '', 'utf8')).trim();
    const gateway = `http://localhost:${port}`;
    expect(settings['OIDC_ISSUER']).toBe(url);
    const client = await StockClient.connect(started, { secret, gateway });
    const { claims, idToken } = await client.signIn('ada');
    expect([claims.sub, claims.aud, claims.exp - claims.iat]).toEqual([
      'ada',
      settings['OIDC_CLIENT_ID'],
      60,
    ]);
    const page = await client.browser.open(client.endSessionUrl({ id_token_hint: idToken }));
    expect((await client.browser.submit(page, { logout: 'yes' })).url.origin).toBe(gateway);
  }
  expect(logouts).toBe(2);
  expect(await readFile(logFile, 'utf8')).toBe('');
  const key = (await readFile(context.keys.signInKey, 'utf8')).trim();
  expect(Buffer.from(key, 'base64').length).toBe(32);
});
