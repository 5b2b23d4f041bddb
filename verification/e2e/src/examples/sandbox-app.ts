import { expectStatus, PartnerApp, REDIRECT_URI, type Tokens } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';

export async function registerSandboxApp(gateway: string, developer: string): Promise<PartnerApp> {
  const json = { name: 'Rehearsal', redirectUris: [REDIRECT_URI], environment: 'sandbox' };
  const answer = await send(`${gateway}/developer/apps`, { bearer: developer, json });
  const { clientId, clientSecret } = expectStatus(201, answer).body.data;
  return new PartnerApp(gateway, { clientId, clientSecret });
}

/** Connects a sandbox app with its person `ben`. */
export async function connectInSandbox(app: PartnerApp, scopes: readonly string[]): Promise<Tokens> {
  const asked = expectStatus(201, await app.authorize(scopes, { login_hint: 'ben' }));
  const location = expectStatus(303, await send(asked.body.approval_uri)).headers.get('location') ?? '';
  return app.expectTokens(new URL(location).searchParams.get('code') ?? '');
}
