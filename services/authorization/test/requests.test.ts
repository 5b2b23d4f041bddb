import { timestampDate } from '@bufbuild/protobuf/wkt';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@phds/service-kit/ids';
import {
  codeOf,
  HEART,
  ISSUER,
  REDIRECT_URI,
  reasonOf,
  refusalOf,
  shareHarness,
  type TestApp,
} from './harness.ts';

const harness = await shareHarness();
const owner = await harness.connect();

describe('requests that end', () => {
  let app: TestApp;

  beforeEach(async () => {
    app = await harness.registerApp();
  });

  const open = (request: { client?: TestApp; purpose?: string } = {}) =>
    harness.authorizations.openAuthorization({
      client: { clientId: app.clientId },
      redirectUri: REDIRECT_URI,
      scope: HEART,
      ...request,
    });

  async function countRequests(): Promise<number> {
    const text = 'SELECT FROM authorization_request WHERE client_id = $1';
    const { rows } = await owner.query(text, [app.clientId]);
    return rows.length;
  }

  test.each([
    ['rate_limited', 'rate_limited'],
    ['app_not_active', 'unauthorized'],
  ] as const)('a request that the consent service refuses leaves nothing: %s', async (refusal, answer) => {
    harness.consent.refused.set('openPendingApproval', refusal);
    expect(await reasonOf(open())).toBe(answer);
    harness.consent.refused.clear();
    expect(await countRequests()).toBe(0);
  });

  test('a request is kept while it is unknown whether its approval was opened', async () => {
    harness.consent.lost.add('openPendingApproval');
    expect(await reasonOf(open())).toBe('unavailable');
    harness.consent.lost.clear();
    expect(await countRequests()).toBe(1);
  });

  test('a request is removed when consent removed its approval for another one', async () => {
    const { pendingId } = await open();
    const before = await countRequests();
    harness.consent.removed = [pendingId];
    await open();
    harness.consent.removed = [];
    expect(await countRequests()).toBe(before);
  });

  /** Deletions of requests fail while `work` runs. */
  async function whileDeletionsFail(work: () => Promise<void>): Promise<void> {
    await owner.query(`
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'out of order'; END $$;
    CREATE TRIGGER fail BEFORE DELETE ON authorization_request FOR EACH ROW EXECUTE FUNCTION fail()`);
    try {
      await work();
    } finally {
      await owner.query('DROP FUNCTION fail() CASCADE');
    }
  }

  test('an opened approval is returned even if requests of removed approvals cannot be deleted, and the failure is logged', async () => {
    harness.consent.removed = [(await open()).pendingId];
    await whileDeletionsFail(async () => {
      const { requestUri } = await open();
      expect(requestUri).not.toBe('');
    });
    harness.consent.removed = [];
    expect(harness.logged()).toContain('deleting requests without an approval failed');
  });

  test.each(['x'.repeat(501), 'a\nb', 'a\u202Eb'])(
    'an invalid purpose refuses a request with the secret; without the secret, the purpose is neither stored nor checked: %j',
    async (purpose) => {
      const refusal = await refusalOf(open({ client: app, purpose }));
      expect(refusal.violations.map((violation) => violation.parameter)).toEqual(['purpose']);
      const { pendingId } = await open({ purpose });
      expect(harness.consent.pending.get(pendingId)?.request.purpose).toBe('');
    },
  );

  test('an error of consent is returned even if its request cannot be deleted', async () => {
    harness.consent.refused.set('openPendingApproval', 'rate_limited');
    await whileDeletionsFail(async () => expect(await reasonOf(open())).toBe('rate_limited'));
    harness.consent.refused.clear();
  });
});

describe('request objects', () => {
  const REQUEST = 'eyJhbGciOiJub25lIn0.e30.';
  const FILE = 'https://app.test/request.jwt';

  test.each([
    ['request_not_supported', { request: REQUEST, scope: HEART }],
    ['request_not_supported', { request: REQUEST }],
    ['request_uri_not_supported', { requestUri: FILE, scope: HEART }],
    ['invalid_request', { request: REQUEST, requestUri: FILE, scope: HEART }],
  ])('a browser returns to the app with %s after %j', async (error, objects) => {
    const { clientId } = await harness.registerApp();
    const { errorRedirect } = await harness.authorizations.openAuthorization({
      client: { clientId },
      frontChannel: true,
      redirectUri: REDIRECT_URI,
      state: 's',
      ...objects,
    });
    const { searchParams } = new URL(errorRedirect);
    expect(['error', 'state', 'iss'].map((name) => searchParams.get(name))).toEqual([error, 's', ISSUER]);
  });
});

describe('an extension', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await harness.registerApp();
  });

  const open = () =>
    harness.authorizations.openAuthorization({ client: app, redirectUri: REDIRECT_URI, scope: HEART });
  const extend = async (pendingId: string, userId = 'ada') =>
    harness.authorizations.extendAuthorization({ pendingId }, await harness.as(userId));
  const resolve = (requestUri: string) =>
    harness.authorizations.resolveRequestUri({ clientId: app.clientId, requestUri });
  const approve = async (pendingId: string) =>
    harness.authorizations.completeAuthorization({ pendingId, allRequested: true }, await harness.as('ada'));

  test('an extended request has a request_uri until its new end, and gives a code that can be exchanged', async () => {
    const { pendingId, requestUri } = await open();
    for (let count = 0; count < 3; count += 1) {
      harness.clock.advance(590_000);
      const { expiresAt } = await extend(pendingId);
      expect(expiresAt && timestampDate(expiresAt).getTime()).toBe(harness.clock.now().getTime() + 600_000);
    }
    harness.clock.advance(599_000);
    expect((await resolve(requestUri)).pendingId).toBe(pendingId);
    const { redirectUri } = await approve(pendingId);
    expect((await harness.exchange(app, codeOf(redirectUri))).accessToken).toMatch(/^phds_at_/);
    harness.clock.advance(1_000);
    expect(await reasonOf(resolve(requestUri))).toBe('unauthorized');
  });

  test('a refused extension leaves the end of the request_uri', async () => {
    const { pendingId, requestUri } = await open();
    harness.clock.advance(300_000);
    harness.consent.refused.set('extendPendingApproval', 'conflict');
    expect(await reasonOf(extend(pendingId))).toBe('conflict');
    harness.consent.refused.clear();
    harness.clock.advance(300_000);
    expect(await reasonOf(resolve(requestUri))).toBe('unauthorized');
  });

  test('extending needs a session, and finds neither unknown requests nor those of another person', async () => {
    const { pendingId } = await open();
    await extend(pendingId);
    expect(await reasonOf(harness.authorizations.extendAuthorization({ pendingId }))).toBe('unauthorized');
    for (const id of [pendingId, newId('apr'), 'nonsense']) {
      expect(await reasonOf(extend(id, 'grace'))).toBe('not_found');
    }
  });
});

describe('shown terms', () => {
  test("an approval about terms that have changed is refused with consent's text, and makes neither grant nor code", async () => {
    const request = { client: await harness.registerApp(), redirectUri: REDIRECT_URI, scope: HEART };
    const { pendingId } = await harness.authorizations.openAuthorization(request);
    const decision = { pendingId, allRequested: true };
    const approve = async (revision: string) =>
      harness.authorizations.completeAuthorization({ ...decision, revision }, await harness.as('ada'));
    const grants = harness.consent.grants.size;
    harness.consent.revision = 'second';
    const refusal = await refusalOf(approve('first'));
    expect(refusal).toMatchObject({ reason: 'conflict', message: 'What you share has changed.' });
    expect(harness.consent.grants.size).toBe(grants);
    const { redirectUri } = await approve('second');
    expect(codeOf(redirectUri)).toMatch(/^phds_ac_/);
  });
});
