import { describe, expect, test } from '@jest/globals';
import { HEART, REDIRECT_URI, reasonOf, shareHarness } from './harness.ts';

const harness = await shareHarness({
  STEP_UP_FOR: 'sensitive-approval,secret-rotation',
  STEP_UP_MAX_AGE_SECONDS: '300',
  STEP_UP_ACR: 'gold',
});

const MOOD = 'read:mood';

let app = await harness.registerApp({ scopes: [HEART, MOOD] });

type Claims = Readonly<Record<string, unknown>>;

/** The claims of a sign-in of this moment, or some seconds ago. */
const signIn = (secondsAgo = 0, acr: string | undefined = 'gold'): Claims => ({
  auth_time: Math.floor(harness.clock.now().getTime() / 1000) - secondsAgo,
  acr,
});

async function open(scope = `${HEART} ${MOOD}`): Promise<string> {
  const request = { client: app, redirectUri: REDIRECT_URI, scope };
  return (await harness.authorizations.openAuthorization(request)).pendingId;
}

const approve = async (pendingId: string, claims: Claims, scopes: string[] = []) =>
  harness.authorizations.completeAuthorization(
    { pendingId, scopes, allRequested: scopes.length === 0 },
    await harness.as('ada', claims),
  );

describe('the approval of a sensitive scope', () => {
  test('after a sign-in that is too old or too weak is refused, creates no grant, and can be repeated after a new one', async () => {
    const grants = harness.consent.grants.size;
    const pendingId = await open();
    for (const claims of [signIn(361), signIn(0, 'silver'), {}]) {
      expect(await reasonOf(approve(pendingId, claims))).toBe('step_up_required');
      expect(await reasonOf(approve(pendingId, claims, [MOOD]))).toBe('step_up_required');
    }
    expect(harness.consent.grants.size).toBe(grants);
    expect((await approve(pendingId, signIn())).scopes).toEqual([HEART, MOOD]);
  });

  test('repeated with an old sign-in does not give the code again, and does with a new one', async () => {
    const pendingId = await open();
    const { redirectUri } = await approve(pendingId, signIn());
    expect(await reasonOf(approve(pendingId, signIn(361)))).toBe('step_up_required');
    expect((await approve(pendingId, signIn())).redirectUri).toBe(redirectUri);
  });

  test('that the app may no longer ask for is refused for that reason', async () => {
    const pendingId = await open();
    await harness.updateApp(app.clientId, { scopes: [HEART] });
    expect(await reasonOf(approve(pendingId, {}))).toBe('conflict');
    await harness.updateApp(app.clientId, { scopes: [HEART, MOOD] });
  });
});

describe('without a new sign-in a person can', () => {
  test('approve a request for ordinary scopes, or only the ordinary scopes of a request', async () => {
    expect((await approve(await open(HEART), {})).scopes).toEqual([HEART]);
    expect((await approve(await open(), {}, [HEART])).scopes).toEqual([HEART]);
  });

  test('deny a request', async () => {
    const denied = await harness.authorizations.denyAuthorization(
      { pendingId: await open() },
      await harness.as('ada'),
    );
    expect(new URL(denied.redirectUri).searchParams.get('error')).toBe('access_denied');
  });
});

describe('a new secret of an app', () => {
  const rotate = async (claims: Claims, userId = 'dev') =>
    harness.apps.rotateSecret({ clientId: app.clientId }, await harness.as(userId, claims));

  test('is made after a new sign-in only, and for its own developer only', async () => {
    const authenticate = () => harness.authorizations.authenticateClient({ client: app });
    for (const claims of [signIn(361), signIn(0, 'silver'), {}]) {
      expect(await reasonOf(rotate(claims))).toBe('step_up_required');
    }
    expect(await reasonOf(rotate({}, 'eve'))).toBe('step_up_required');
    expect(await reasonOf(rotate(signIn(), 'eve'))).toBe('not_found');
    expect(await authenticate()).toMatchObject({ clientId: app.clientId });
    const { clientSecret } = await rotate(signIn());
    expect(await reasonOf(authenticate())).toBe('unauthorized');
    app = { ...app, clientSecret };
    expect(await authenticate()).toMatchObject({ clientId: app.clientId });
  });
});
