// The side of `interleaved --beside` for tokens: `oidc-provider` in one process that keeps everything in memory and verifies no person. Receives the
// number of codes to create over IPC and returns them. Its codes, tokens and rotation are those of the service: opaque, without
// OpenID Connect, and a new refresh token at each use.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Adapter, type AdapterPayload, Provider } from 'oidc-provider';
import type { TokenJob } from './load-job.ts';

const CLIENT: Pick<TokenJob, 'clientId' | 'clientSecret' | 'redirectUri' | 'scope'> = {
  clientId: 'bench',
  clientSecret: 'a-secret-of-thirty-two-characters',
  redirectUri: 'https://app.example/callback',
  scope: 'read:health-data:heart',
};
const DAY_SECONDS = 24 * 60 * 60;

/** The package's own adapter keeps a thousand items, fewer than a stretch of exchanges needs. */
class MemoryAdapter implements Pick<Adapter, 'upsert' | 'find' | 'consume' | 'destroy' | 'revokeByGrantId'> {
  readonly #items = new Map<string, AdapterPayload>();

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.#items.set(id, payload);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#items.get(id);
  }

  async consume(id: string): Promise<void> {
    const item = this.#items.get(id);
    if (item !== undefined) item['consumed'] = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    this.#items.delete(id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, item] of this.#items) if (item.grantId === grantId) this.#items.delete(id);
  }
}

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const provider = new Provider(url, {
  adapter: MemoryAdapter as unknown as new (name: string) => Adapter,
  clients: [
    {
      client_id: CLIENT.clientId,
      client_secret: CLIENT.clientSecret,
      redirect_uris: [CLIENT.redirectUri],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      token_endpoint_auth_method: 'client_secret_post',
      scope: CLIENT.scope,
    },
  ],
  scopes: [CLIENT.scope],
  features: {
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    devInteractions: { enabled: false },
  },
  findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  expiresWithSession: () => false,
  pkce: { required: () => false },
  ttl: {
    AccessToken: 3600,
    AuthorizationCode: DAY_SECONDS,
    RefreshToken: 30 * DAY_SECONDS,
    Grant: DAY_SECONDS,
  },
});
server.on('request', provider.callback());

async function createCode(): Promise<string> {
  const client = await provider.Client.find(CLIENT.clientId);
  if (client === undefined) throw new Error('the client is missing');
  const accountId = 'ada';
  const grant = new provider.Grant({ accountId, clientId: CLIENT.clientId });
  grant.addOIDCScope(CLIENT.scope);
  const grantId = await grant.save();
  const { redirectUri, scope } = CLIENT;
  return new provider.AuthorizationCode({
    client,
    accountId,
    grantId,
    redirectUri,
    scope,
    gty: 'authorization_code',
  } as ConstructorParameters<typeof provider.AuthorizationCode>[0]).save();
}

process.on('message', async (count: number) => {
  const codes: string[] = [];
  while (codes.length < count) codes.push(await createCode());
  process.send?.(codes);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ...CLIENT, tokenUrl: `${url}/token`, introspectionUrl: `${url}/token/introspection` });
