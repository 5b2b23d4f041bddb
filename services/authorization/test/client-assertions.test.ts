import { createServer } from 'node:http';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { createProofKey, type ProofKey } from '@phds/test-kit/dpop-proofs';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { type AssertionChanges, signAssertion } from './assertions.ts';
import { HEART, ISSUER, REDIRECT_URI, race, refusalOf, shareHarness } from './harness.ts';

const harness = await shareHarness();

const key = await createProofKey();
const another = await createProofKey();
const second = (offset: number) => Math.floor(harness.clock.now().getTime() / 1000) + offset;

interface Changes extends AssertionChanges {
  readonly signer?: ProofKey;
}

const assert = (clientId: string, { signer = key, ...changes }: Changes = {}) =>
  signAssertion(harness, signer, clientId, changes);

let clientId: string;

async function register(settings: object = {}): Promise<string> {
  const jwks = JSON.stringify({ keys: [key.publicJwk] });
  const defaults = {
    name: 'App',
    redirectUris: [REDIRECT_URI],
    tokenEndpointAuthMethod: 'private_key_jwt',
    jwks,
  };
  const { app } = await harness.apps.registerApp(
    { settings: { ...defaults, ...settings } },
    await harness.as('dev'),
  );
  return app?.clientId ?? '';
}

const grantType = 'client_credentials';
const issue = (client: object) => harness.tokens.issueToken({ client, grantType });
const present = async (changes: Changes = {}) =>
  issue({ clientId, clientAssertion: await assert(clientId, changes) });
const U = { reason: 'unauthorized', message: '', violations: [] };

beforeEach(async () => {
  clientId = await register();
});

test.each(['ES256', 'ES384', 'EdDSA', 'Ed25519', 'PS256', 'RS384'])(
  'an app gets a token with its %s key',
  async (alg) => {
    const signer = await createProofKey(alg);
    clientId = await register({ jwks: JSON.stringify({ keys: [signer.publicJwk] }) });
    expect((await present({ signer, alg })).accessToken).toMatch(/^phds_at_/);
  },
);

test('of fifty uses of an assertion at once one gets a token', async () => {
  const client = { clientId, clientAssertion: await assert(clientId) };
  const { won, lost } = await race(50, () => issue(client));
  expect([won.length, new Set(lost)]).toEqual([1, new Set(['unauthorized'])]);
  // The same jti of another app is another assertion.
  const jti = newId('jti');
  await present({ claims: { jti } });
  clientId = await register();
  await present({ claims: { jti } });
});

test('each call uses up its assertion', async () => {
  const clientAssertion = await assert(clientId);
  const client = { clientId, clientAssertion };
  const pushed = { client, redirectUri: REDIRECT_URI, scope: HEART, requireAuthentication: true };
  expect((await harness.authorizations.openAuthorization(pushed)).pendingId).not.toBe('');
  for (const again of [
    () => issue(client),
    // Otherwise whoever has a used one could use up the limit of the app.
    () => harness.authorizations.authenticateClient({ client }),
    () => harness.authorizations.openAuthorization(pushed),
    () => harness.authorizations.openAuthorization({ ...pushed, requireAuthentication: false }),
    () => harness.tokens.revokeToken({ client, token: 'x' }),
    () => harness.tokens.introspectOwnToken({ client, token: 'x' }),
  ]) {
    expect(await refusalOf(again())).toMatchObject(U);
  }
});

describe('accepts an assertion', () => {
  test.each<[string, Changes]>([
    ['of the type JWT', { header: { typ: 'JWT' } }],
    ['without a type', { header: { typ: undefined } }],
    ['that ends in 300 s', { claims: { exp: second(300) } }],
    ['made 8 s ahead of our clock', { claims: { iat: second(8), nbf: second(8) } }],
    ['with a jti of 256 characters', { claims: { jti: 'x'.repeat(256) } }],
    ['for a list of the issuer alone', { claims: { aud: [ISSUER] } }],
  ])('%s', async (_what, changes) => {
    expect((await present(changes)).accessToken).not.toBe('');
  });
});

describe('refuses with the uniform answer an assertion', () => {
  test.each<[string, Changes]>([
    ['without aud', { claims: { aud: undefined } }],
    ['of another issuer', { claims: { iss: newId('app') } }],
    ['without an end', { claims: { exp: undefined } }],
    ['made 61 s ahead of our clock', { claims: { iat: second(61) } }],
    ['not yet valid', { claims: { nbf: second(61) } }],
    ['without a jti', { claims: { jti: undefined } }],
    ['with an empty jti', { claims: { jti: '' } }],
    ['with a jti that is no text', { claims: { jti: 1 } }],
    ['with a long jti', { claims: { jti: 'x'.repeat(257) } }],
    ['of 10 kB', { claims: { note: 'x'.repeat(10_000) } }],
    ['that is a DPoP proof', { header: { typ: 'dpop+jwt' } }],
    ['with a header that has to be understood', { header: { crit: ['b64'], b64: true } }],
    ['that brings its key', { signer: another, header: { jwk: another.publicJwk } }],
  ])('%s', async (_what, changes) => {
    expect(await refusalOf(present(changes))).toMatchObject(U);
  });

  test.each([
    ['garbage', 'x.y.z'],
    ['an empty text', ''],
    ['one without a signature', `${btoa('{"alg":"none"}').replaceAll('=', '')}.e30.`],
  ])('that is %s, without quoting it', async (_what, clientAssertion) => {
    const refusal = await refusalOf(issue({ clientId, clientAssertion }));
    expect(refusal).toMatchObject(U);
    expect(refusal.cause).toMatch(/^assertion: (it is not a signed JWT|alg is none of [\w, ]+)$/);
  });

  test.each<[string, Changes]>([
    ['aud is not the issuer alone', { claims: { aud: `${ISSUER}/oauth/token` } }],
    ['aud is not the issuer alone', { claims: { aud: [ISSUER, `${ISSUER}/oauth/token`] } }],
    ['exp is more than 300 s ahead', { claims: { exp: second(3_600) } }],
    ['exp is missing or has passed', { claims: { exp: second(-61) } }],
    ['sub is not the client id', { claims: { sub: newId('app') } }],
    ['its signature is not by the key of the app', { signer: another }],
    ['no key of the app fits its kid and alg', { header: { kid: '<b>unknown' } }],
  ])('and tells the gateway, for the developer: %s', async (fault, changes) => {
    const refusal = await refusalOf(present(changes));
    expect(refusal).toMatchObject({ ...U, cause: `assertion: ${fault}` });
  });

  test('of RS256 and HS256, which are not for this', async () => {
    const rsa = await createProofKey('PS256');
    clientId = await register({ jwks: JSON.stringify({ keys: [rsa.publicJwk] }) });
    const { n = '' } = rsa.publicJwk;
    const { alg: _alg, ...privateJwk } = rsa.privateJwk;
    const cause = 'assertion: alg is none of ES256, EdDSA, Ed25519, PS256, ES384, RS384';
    const refusal = await refusalOf(present({ signer: { ...rsa, privateJwk }, alg: 'RS256' }));
    expect(refusal).toMatchObject({ ...U, cause });
    const shared = { ...rsa, privateJwk: { kty: 'oct', k: n } };
    expect(await refusalOf(present({ signer: shared, alg: 'HS256' }))).toMatchObject(U);
  });

  test('of another app, or of an app that does not exist', async () => {
    const other = await register({ jwks: JSON.stringify({ keys: [another.publicJwk] }) });
    const clientAssertion = await assert(clientId);
    for (const id of [other, newId('app'), '', "x'\0"]) {
      expect(await refusalOf(issue({ clientId: id, clientAssertion }))).toMatchObject(U);
    }
    expect((await issue({ clientId, clientAssertion })).accessToken).not.toBe('');
  });
});

test('the places that a header names are never asked', async () => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end(JSON.stringify({ keys: [another.publicJwk] }));
  });
  try {
    const place = `http://127.0.0.1:${await listenOnLoopback(server)}`;
    const header = { jku: place, x5u: place };
    expect(await refusalOf(present({ signer: another, header }))).toMatchObject(U);
    expect((await present({ header })).accessToken).not.toBe('');
    expect(requests).toBe(0);
  } finally {
    server.close();
  }
});

describe('from a secret to a key and back', () => {
  test('both work until the app leaves the secret, and never both in one request', async () => {
    const app = await harness.registerApp();
    clientId = app.clientId;
    const update = (settings: object) => harness.updateApp(clientId, settings);
    expect(await refusalOf(present())).toMatchObject(U);
    await update({ jwks: JSON.stringify({ keys: [key.publicJwk] }) });
    await present();
    await issue(app);
    expect(await refusalOf(issue({ ...app, clientAssertion: await assert(clientId) }))).toMatchObject(U);
    await update({ tokenEndpointAuthMethod: 'private_key_jwt' });
    expect(await refusalOf(issue(app))).toMatchObject(U);
    await present();
    await update({ tokenEndpointAuthMethod: 'client_secret_basic' });
    await present();
    const { clientSecret } = await harness.apps.rotateSecret({ clientId }, await harness.as('dev'));
    await issue({ clientId, clientSecret });
    await update({ jwks: '' });
    expect(await refusalOf(present())).toMatchObject(U);
  });

  test('a secret that a database kept for an app with private_key_jwt gives no token', async () => {
    const { clientSecret } = await harness.registerApp();
    const owner = await harness.connect();
    const kept = `UPDATE app SET secret_hash = sha256($2) WHERE client_id = $1`;
    await owner.query(kept, [clientId, Buffer.from(clientSecret)]);
    expect(await refusalOf(issue({ clientId, clientSecret }))).toMatchObject(U);
  });

  test('a removed key does not work from the answer on', async () => {
    const first = { ...key.publicJwk, kid: 'first' };
    const next = { ...another.publicJwk, kid: 'next' };
    const setKeys = (...keys: object[]) => harness.updateApp(clientId, { jwks: JSON.stringify({ keys }) });
    await setKeys(first, next);
    await present({ header: { kid: 'first' } });
    await present({ header: { kid: 'next' }, signer: another });
    // Which of several keys it is has to be said.
    expect(await refusalOf(present())).toMatchObject(U);
    await setKeys(next);
    expect(await refusalOf(present({ header: { kid: 'first' } }))).toMatchObject(U);
    await present({ signer: another });
  });
});

test('a revocation of the app removes its keys', async () => {
  const { REVOKED, ACTIVE } = AppStatus;
  for (const status of [REVOKED, ACTIVE]) await harness.setStatus({ clientId }, status);
  expect(await refusalOf(present())).toMatchObject(U);
  await harness.updateApp(clientId, { jwks: JSON.stringify({ keys: [another.publicJwk] }) });
  expect(await refusalOf(present())).toMatchObject(U);
  expect((await present({ signer: another })).accessToken).toMatch(/^phds_at_/);
});
