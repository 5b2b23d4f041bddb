import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** A partner app that is a page: its server sends one file, and knows neither a secret nor a token. */
export interface BrowserApp extends AsyncDisposable {
  readonly origin: string;
  /** The client id that the page has from now on. */
  use(clientId: string): void;
}

/** A page with an unmodified oidc-client-ts. It puts the result of each step into its only paragraph. */
export async function startBrowserApp(gateway: string): Promise<BrowserApp> {
  const main = createRequire(import.meta.url).resolve('oidc-client-ts');
  const library = await readFile(join(main, '../../browser/oidc-client-ts.min.js'), 'utf8');
  let clientId = '';
  const server = createServer((_, response) => {
    response
      .setHeader('Content-Type', 'text/html; charset=utf-8')
      .end(`<!doctype html><html lang="en"><title>Page</title>
      <main><h1>Page</h1><button id="connect">Connect</button><p></p></main>
      <script>${library.replaceAll('</script', '<\\/script')}</script>
      <script>${toScript({ gateway, clientId })}</script></html>`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use: (id) => {
      clientId = id;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function toScript(settings: { readonly gateway: string; readonly clientId: string }): string {
  return `
    const { gateway, clientId } = ${JSON.stringify(settings)};
    const store = new oidc.IndexedDbDPoPStore();
    const manager = new oidc.UserManager({
      authority: gateway,
      metadataUrl: gateway + '/.well-known/oauth-authorization-server',
      client_id: clientId,
      redirect_uri: location.origin + '/',
      scope: 'read:health-data:heart',
      automaticSilentRenew: false,
      dpop: { bind_authorization_code: true, store },
    });
    const show = (text) => { document.querySelector('p').textContent = text; };
    async function read(user) {
      const url = gateway + '/api/v1/health-data/heart';
      const headers = { Authorization: 'DPoP ' + user.access_token, DPoP: await manager.dpopProof(url, user, 'GET') };
      const answer = await fetch(url, { headers });
      const body = await answer.json();
      return { status: answer.status, code: body.code, readings: body.data?.length, date: answer.headers.get('date') !== null };
    }
    globalThis.steps = {
      user: () => manager.getUser(),
      read: async () => read(await manager.getUser()),
      refresh: () => manager.signinSilent(),
      revoke: () => manager.revokeTokens(),
      isKeyKept: async () => !(await store.get(clientId)).keys.privateKey.extractable,
    };
    document.querySelector('#connect').onclick = () => manager.signinRedirect();
    if (new URLSearchParams(location.search).has('state')) {
      manager.signinCallback().then(read).then((result) => show(JSON.stringify(result)), (error) => show(String(error)));
    }`;
}
