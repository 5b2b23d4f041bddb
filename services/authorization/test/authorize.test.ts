import { describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { newSecret } from '@phds/service-kit/secrets';
import {
  codeOf,
  createPkce,
  HEART,
  ISSUER,
  REDIRECT_URI,
  race,
  reasonOf,
  refusalOf,
  shareHarness,
} from './harness.ts';

const harness = await shareHarness();

const app = await harness.registerApp();

type Request = { client?: { clientId?: string; clientSecret?: string } } & Record<string, unknown>;

const open = ({ client = { clientId: app.clientId }, ...request }: Request = {}) =>
  harness.authorizations.openAuthorization({ client, redirectUri: REDIRECT_URI, scope: HEART, ...request });
const pendingOf = (id: string) => harness.consent.pending.get(id)!.request;
const complete = async (pendingId: string, decision: object = { allRequested: true }, user = 'ada') =>
  harness.authorizations.completeAuthorization({ pendingId, ...decision }, await harness.as(user));

describe('an authorization request', () => {
  test('opens a pending approval that states whether the app was authenticated', async () => {
    const opened = await open();
    expect(opened.pendingId).toMatch(/^apr_[0-9A-Za-z]{22,}$/);
    expect(opened).toMatchObject({
      requestUri: `urn:ietf:params:oauth:request_uri:${opened.pendingId}`,
      expiresInSeconds: 600,
      errorRedirect: '',
    });
    expect(pendingOf(opened.pendingId)).toMatchObject({
      clientAuthenticated: false,
      redirectHost: 'app.test',
      scopes: [HEART],
    });
    const authenticated = await open({ client: app, purpose: ' to help you sleep ' });
    expect(pendingOf(authenticated.pendingId)).toMatchObject({
      clientAuthenticated: true,
      purpose: 'to help you sleep',
    });
  });

  test("without a valid secret gives the same response for an unknown client, an inactive app and another app's redirect", async () => {
    const suspended = await harness.registerApp();
    await harness.setStatus(suspended, AppStatus.SUSPENDED);
    const stale = await harness.registerApp();
    harness.consent.apps.get(stale.clientId)!.status = AppStatus.SUSPENDED;
    const causes: Request[] = [
      { client: {} },
      { client: { clientId: '' } },
      { client: { clientId: 'nonsense\0' } },
      { client: { clientId: newId('app') } },
      { client: { clientId: suspended.clientId } },
      { client: suspended },
      { client: { clientId: stale.clientId } },
      { client: { clientId: app.clientId, clientSecret: newSecret('client_secret') } },
      { client: { clientId: app.clientId, clientSecret: '' } },
      { requireAuthentication: true },
      { redirectUri: `${REDIRECT_URI}&x=1` },
      { redirectUri: '' },
      { frontChannel: true, client: app, redirectUri: 'https://evil.test/' },
      { frontChannel: true, client: { clientId: newId('app') } },
    ];
    const answers: string[] = [];
    for (const cause of causes) {
      const { reason, message, violations } = await refusalOf(open(cause));
      answers.push(JSON.stringify({ reason, message, violations }));
    }
    expect(new Set(answers)).toEqual(new Set(['{"reason":"unauthorized","message":"","violations":[]}']));
  });

  test('with a valid secret is told what is wrong with its redirect', async () => {
    const refusal = await refusalOf(open({ client: app, redirectUri: 'https://evil.test/' }));
    expect(refusal).toMatchObject({ reason: 'invalid_request', violations: [{ parameter: 'redirect_uri' }] });
  });

  test('may use any port of a registered loopback redirect', async () => {
    const native = await harness.registerApp({
      redirectUris: ['http://127.0.0.1/cb', 'com.example.app:/cb'],
    });
    const client = { clientId: native.clientId };
    expect((await open({ client, redirectUri: 'http://127.0.0.1:51001/cb' })).pendingId).toMatch(/^apr_/);
    expect(await reasonOf(open({ client, redirectUri: 'http://localhost:51001/cb' }))).toBe('unauthorized');
    const { pendingId } = await open({ client, redirectUri: 'com.example.app:/cb', state: 's' });
    expect((await complete(pendingId)).redirectUri).toMatch(
      /^com\.example\.app:\/cb\?code=phds_ac_\w+&state=s&/,
    );
  });

  test.each([
    ['response_type', { responseType: 'token' }],
    ['response_mode', { responseMode: 'fragment' }],
    ['response_mode', { responseMode: 'form_post' }],
    ['state', { state: 'x'.repeat(4097) }],
    ['state', { state: 'a\0b' }],
    ['code_challenge', { codeChallenge: 'short', codeChallengeMethod: 'S256' }],
    ['code_challenge', { codeChallengeMethod: 'S256' }],
    ['request_uri', { requestUri: 'urn:ietf:params:oauth:request_uri:apr_1' }],
    ['request', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['code_challenge_method', { codeChallenge: createPkce().challenge }],
    ['code_challenge_method', { codeChallenge: createPkce().challenge, codeChallengeMethod: 'plain' }],
  ])('is refused for its %s: %j', async (parameter, request: Request) => {
    const refusal = await refusalOf(open(request));
    expect(refusal.reason).toBe('invalid_request');
    expect(refusal.violations.map((violation) => violation.parameter)).toEqual([parameter]);
  });

  test('requires known scopes that are registered for the app', async () => {
    const narrow = await harness.registerApp({ scopes: [HEART] });
    const client = { clientId: narrow.clientId };
    for (const scope of ['', ' ', 'nonsense', `${HEART} nonsense`, 'read:mood', 'read:*']) {
      expect([scope, await reasonOf(open({ client, scope }))]).toEqual([scope, 'invalid_scope']);
    }
    const commas = await refusalOf(open({ client, scope: `${HEART},read:mood` }));
    expect(commas.message).toBe(`Unknown scope: '${HEART},read:mood'. Scopes are separated by spaces.`);
    expect((await open({ client, scope: `${HEART}  ${HEART}` })).pendingId).toMatch(/^apr_/);
  });

  test('requires a challenge when the app requires PKCE', async () => {
    const strict = await harness.registerApp({ requirePkce: true });
    const client = { clientId: strict.clientId };
    expect(await reasonOf(open({ client }))).toBe('invalid_request');
    const { challenge } = createPkce();
    const opened = await open({ client, codeChallenge: challenge, codeChallengeMethod: 'S256' });
    expect(opened.pendingId).toMatch(/^apr_/);
  });

  test("from a browser returns errors with error, state and iss, and keeps the redirect URI's own query", async () => {
    const state = 'a b&c=d/ü';
    const scope = await open({ frontChannel: true, scope: 'nonsense', state });
    const back = new URL(scope.errorRedirect);
    expect(scope.errorRedirect.startsWith(`${REDIRECT_URI}&error=invalid_scope&`)).toBe(true);
    expect(back.searchParams.get('state')).toBe(state);
    expect(back.searchParams.get('iss')).toBe(ISSUER);
    expect((await harness.authorizations.getIssuer({})).issuer).toBe(ISSUER);
    expect(scope).toMatchObject({ pendingId: '', errorRedirectHost: 'app.test' });
    const type = await open({ frontChannel: true, responseType: 'token' });
    expect(new URL(type.errorRedirect).searchParams.get('error')).toBe('unsupported_response_type');
    expect(new URL(type.errorRedirect).searchParams.has('state')).toBe(false);
    harness.consent.away.add('openPendingApproval');
    const away = await open({ frontChannel: true });
    harness.consent.away.clear();
    expect(new URL(away.errorRedirect).searchParams.get('error')).toBe('temporarily_unavailable');
  });

  test('from a browser is told to try again later while the database is full', async () => {
    const owner = await harness.connect();
    await owner.query(`
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER fail BEFORE INSERT ON authorization_request FOR EACH ROW EXECUTE FUNCTION fail()`);
    const refused = await open({ frontChannel: true });
    await owner.query('DROP FUNCTION fail() CASCADE');
    expect(new URL(refused.errorRedirect).searchParams.get('error')).toBe('temporarily_unavailable');
  });
});

describe('a request_uri', () => {
  test('can be resolved by its own client for 600 seconds', async () => {
    const { requestUri, pendingId } = await open();
    const resolve = (clientId: string, uri: string) =>
      harness.authorizations.resolveRequestUri({ clientId, requestUri: uri });
    expect((await resolve(app.clientId, requestUri)).pendingId).toBe(pendingId);
    const stranger = await harness.registerApp();
    expect(await reasonOf(resolve(stranger.clientId, requestUri))).toBe('unauthorized');
    expect(await reasonOf(resolve(app.clientId, pendingId))).toBe('unauthorized');
    expect(await reasonOf(resolve(app.clientId, `${requestUri}x`))).toBe('unauthorized');
    harness.clock.advance(600_000);
    expect(await reasonOf(resolve(app.clientId, requestUri))).toBe('unauthorized');
  });
});

describe('an approval', () => {
  test('sends code, unchanged state and iss to the redirect, and keeps its own query', async () => {
    const state = 'a+b %26=/ü"\'';
    const { pendingId } = await open({ state });
    const { redirectUri } = await complete(pendingId);
    expect(redirectUri).toMatch(
      /^https:\/\/app\.test\/callback\?tenant=7&code=phds_ac_[0-9A-Za-z]{49}&state=/,
    );
    expect(new URL(redirectUri).searchParams.get('state')).toBe(state);
    expect(new URL(redirectUri).searchParams.get('iss')).toBe(ISSUER);
    const without = await complete((await open()).pendingId);
    expect(new URL(without.redirectUri).searchParams.has('state')).toBe(false);
  });

  test('repeated 20 times concurrently creates one code and one response', async () => {
    const { pendingId } = await open();
    const { won, lost } = await race(20, () => complete(pendingId));
    expect(lost).toEqual([]);
    expect(new Set(won.map((completed) => completed.redirectUri)).size).toBe(1);
  });

  test('repeated after its code was used or has expired is refused as already decided', async () => {
    const used = await open();
    await harness.exchange(app, codeOf((await complete(used.pendingId)).redirectUri));
    expect(await reasonOf(complete(used.pendingId))).toBe('already_decided');
    const expired = await open();
    await complete(expired.pendingId);
    harness.clock.advance(300_000);
    expect(await reasonOf(complete(expired.pendingId))).toBe('already_decided');
  });

  test('of another session, with other choices, without scopes or with an unknown id is refused', async () => {
    const { pendingId } = await open();
    expect(await reasonOf(complete(pendingId, { scopes: [] }))).toBe('no_scopes_approved');
    await complete(pendingId);
    expect(await reasonOf(complete(pendingId, { allRequested: true }, 'grace'))).toBe('not_found');
    expect(await reasonOf(complete(newId('apr')))).toBe('not_found');
    expect(await reasonOf(complete('nonsense'))).toBe('not_found');
    const nobody = harness.authorizations.completeAuthorization({ pendingId, allRequested: true });
    expect(await reasonOf(nobody)).toBe('unauthorized');
    const foreign = await harness.as('ada', { aud: 'another-audience' });
    const unknown = harness.authorizations.completeAuthorization({ pendingId: newId('apr') }, foreign);
    expect(await reasonOf(unknown)).toBe('unauthorized');
  });

  test('is completed by a retry when its response was lost after the grant was created', async () => {
    const { pendingId } = await open();
    harness.consent.lost.add('approve');
    expect(await reasonOf(complete(pendingId))).toBe('unavailable');
    harness.consent.lost.clear();
    expect((await complete(pendingId)).redirectUri).toContain('code=');
  });
});

test('a denial sends error, state and iss, and may be repeated', async () => {
  const { pendingId } = await open({ state: 's' });
  const deny = async () => harness.authorizations.denyAuthorization({ pendingId }, await harness.as('ada'));
  const { redirectUri } = await deny();
  expect(redirectUri).toBe(`${REDIRECT_URI}&error=access_denied&state=s&iss=${encodeURIComponent(ISSUER)}`);
  expect((await deny()).redirectUri).toBe(redirectUri);
  expect(await reasonOf(complete(pendingId))).toBe('already_decided');
});
