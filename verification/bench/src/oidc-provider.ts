// What `tokens` compares with: one process of oidc-provider, which keeps its state in a Postgres table of id, payload and expiry. It has no
// ledger of consent, limits or access records. It makes codes on request, because nobody signs in.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider';
import pg from 'pg';

const { DATABASE_URL, CLIENT_ID = '', CLIENT_SECRET = '', REDIRECT_URI = '', SCOPE = '' } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });

await pool.query('DROP TABLE IF EXISTS oidc_payload');
await pool.query(
  'CREATE TABLE oidc_payload (id text PRIMARY KEY, payload jsonb NOT NULL, expires_at timestamptz, grant_id text)',
);
await pool.query('CREATE INDEX ON oidc_payload (grant_id)');

const UPSERT = `
  INSERT INTO oidc_payload (id, payload, expires_at, grant_id) VALUES ($1, $2, now() + $3 * interval '1 second', $4)
  ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`;
const FIND = 'SELECT payload FROM oidc_payload WHERE id = $1 AND (expires_at IS NULL OR expires_at > now())';
const CONSUME = `
  UPDATE oidc_payload SET payload = payload || jsonb_build_object('consumed', floor(extract(epoch FROM now())))
  WHERE id = $1`;

const run = (name: string, text: string, values: unknown[]) => pool.query({ name, text, values });

class PostgresAdapter implements Adapter {
  readonly #kind: string;

  constructor(kind: string) {
    this.#kind = kind;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    await run('upsert', UPSERT, [this.#key(id), payload, expiresIn ?? null, payload.grantId ?? null]);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return (await run('find', FIND, [this.#key(id)])).rows[0]?.payload;
  }

  async consume(id: string): Promise<void> {
    await run('consume', CONSUME, [this.#key(id)]);
  }

  async destroy(id: string): Promise<void> {
    await run('destroy', 'DELETE FROM oidc_payload WHERE id = $1', [this.#key(id)]);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await run('revoke', 'DELETE FROM oidc_payload WHERE grant_id = $1', [grantId]);
  }

  // Only the device flow has user codes, and only sign-ins have sessions by uid.
  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async findByUid(): Promise<undefined> {
    return undefined;
  }

  #key(id: string): string {
    return `${this.#kind}:${id}`;
  }
}

const server = createServer((request, response) => void provider.callback()(request, response));
server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const provider = new Provider(url, {
  adapter: PostgresAdapter,
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      redirect_uris: [REDIRECT_URI],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      token_endpoint_auth_method: 'client_secret_post',
      scope: SCOPE,
    },
  ],
  scopes: [SCOPE],
  pkce: { required: () => false },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
  },
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  ttl: { AuthorizationCode: 86_400, Grant: 86_400, AccessToken: 3_600, RefreshToken: 86_400 },
});

async function createCode(accountId: string, grantId: string): Promise<string> {
  const client = await provider.Client.find(CLIENT_ID);
  if (client === undefined) throw new Error('no client');
  const code = new provider.AuthorizationCode({
    accountId,
    client,
    grantId,
    gty: 'authorization_code',
    redirectUri: REDIRECT_URI,
    scope: SCOPE,
  });
  return code.save();
}

const PEOPLE = 50;
const grantIds: string[] = [];
for (let n = 0; n < PEOPLE; n += 1) {
  const grant = new provider.Grant({ accountId: `person-${n}`, clientId: CLIENT_ID });
  grant.addOIDCScope(SCOPE);
  grantIds.push(await grant.save());
}

process.on('message', async (count: number) => {
  const codes: string[] = [];
  while (codes.length < count) {
    const some = Array.from({ length: Math.min(100, count - codes.length) }, (_, n) =>
      createCode(`person-${n % PEOPLE}`, grantIds[n % PEOPLE] ?? ''),
    );
    codes.push(...(await Promise.all(some)));
  }
  process.send?.(codes);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url });
