import { expect, test } from '@jest/globals';
import { createPkce, HEART, REDIRECT_URI, shareHarness } from './harness.ts';

const harness = await shareHarness();

/** The content of every table of the service, with bytes also as text. */
async function dumpTables(): Promise<string> {
  const owner = await harness.connect();
  const tables = await owner.query<{ name: string }>(
    `SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS name
     FROM information_schema.tables WHERE table_schema = $1 AND table_type = 'BASE TABLE'`,
    [harness.database.schema],
  );
  const dumps: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await owner.query<Record<string, unknown>>(`SELECT * FROM ${name}`);
    dumps.push(`${name} ${rows.length}`, ...rows.map(toText));
  }
  return dumps.join('\n');
}

function toText(row: Record<string, unknown>): string {
  const values = Object.values(row).map((value) =>
    Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value),
  );
  return values.join(' ');
}

test('no table and no log line contains a secret, a code, a token or a verifier in plain text', async () => {
  const app = await harness.registerApp();
  const { challenge, verifier } = createPkce();
  const code = await harness.obtainCode(app, { codeChallenge: challenge });
  const first = await harness.exchange(app, code, { codeVerifier: verifier });
  const second = await harness.refresh(app, first.refreshToken, HEART);
  const own = await harness.tokens.issueToken({ client: app, grantType: 'client_credentials' });
  const { clientId } = app;
  const rotated = await harness.apps.rotateSecret({ clientId }, await harness.as('dev'));
  await harness.exchange({ clientId, clientSecret: rotated.clientSecret }, code).catch(() => undefined);
  await harness.tokens.introspectOwnToken({ client: app, token: second.accessToken }).catch(() => undefined);

  const canaries = {
    secret: app.clientSecret,
    rotated: rotated.clientSecret,
    code,
    verifier,
    accessToken: first.accessToken,
    refreshToken: first.refreshToken,
    derivedAccessToken: second.accessToken,
    derivedRefreshToken: second.refreshToken,
    ownToken: own.accessToken,
  };
  const tables = await dumpTables();
  const log = harness.logged();
  expect(tables).toContain(REDIRECT_URI);
  expect(tables).toMatch(/access_token 3\n/);
  expect(log).toContain('"ready"');
  for (const [name, canary] of Object.entries(canaries)) {
    // Also searched without prefix and checksum.
    const core = canary.slice(8, 40);
    expect([name, tables.includes(core), log.includes(core)]).toEqual([name, false, false]);
  }
});
