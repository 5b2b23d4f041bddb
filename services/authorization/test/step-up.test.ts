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

const INSUFFICIENT: readonly [what: string, claims: () => Claims][] = [
  ['too long ago', () => signIn(361)],
  ['at an unknown time', () => ({ acr: 'gold' })],
  ['with another acr', () => signIn(0, 'silver')],
  ['without an acr', () => ({ ...signIn(), acr: undefined })],
  ['without saying anything about it', () => ({})],
];

async function open(scope = `${HEART} ${MOOD}`): Promise<string> {
  const request = { client: app, redirectUri: REDIRECT_URI, scope };
  return (await harness.authorizations.openAuthorization(request)).pendingId;
}

const approve = async (
  pendingId: string,
  claims: Claims,
  { scopes, userId = 'ada' }: { readonly scopes?: string[]; readonly userId?: string } = {},
) =>
  harness.authorizations.completeAuthorization(
    { pendingId, ...(scopes === undefined ? { allRequested: true } : { scopes }) },
    await harness.as(userId, claims),
  );

describe('the approval of a sensitive scope', () => {
  test.each(INSUFFICIENT)(
    'by a person who signed in %s is refused, creates no grant, and can be repeated after a new sign-in',
    async (_, claims) => {
      const grants = harness.consent.grants.size;
      const pendingId = await open();
      expect(await reasonOf(approve(pendingId, claims()))).toBe('step_up_required');
      expect(await reasonOf(approve(pendingId, claims(), { scopes: [MOOD] }))).toBe('step_up_required');
      expect(harness.consent.grants.size).toBe(grants);
      expect((await approve(pendingId, signIn())).scopes).toEqual([HEART, MOOD]);
    },
  );

  test('is accepted right after the sign-in, although the clock of the provider is seconds off', async () => {
    for (const secondsAgo of [-10, 0, 10, 300, 310]) {
      expect((await approve(await open(), signIn(secondsAgo))).scopes).toEqual([HEART, MOOD]);
    }
  });

  test('repeated with an old sign-in does not give the code again, and does with a new one', async () => {
    const pendingId = await open();
    const { redirectUri } = await approve(pendingId, signIn());
    expect(await reasonOf(approve(pendingId, signIn(361)))).toBe('step_up_required');
    expect((await approve(pendingId, signIn())).redirectUri).toBe(redirectUri);
  });

  test('tells another person nothing about the request', async () => {
    const pendingId = await open();
    harness.consent.claim(pendingId, 'ada');
    expect(await reasonOf(approve(pendingId, {}))).toBe('step_up_required');
    expect(await reasonOf(approve(pendingId, {}, { userId: 'bob' }))).toBe('not_found');
  });

  test('does not claim a request that nobody has claimed when it is refused: another person can approve it', async () => {
    const pendingId = await open();
    expect(await reasonOf(approve(pendingId, {}))).toBe('step_up_required');
    expect((await approve(pendingId, signIn(), { userId: 'bob' })).scopes).toEqual([HEART, MOOD]);
  });

  test('after its time is over is refused for that reason', async () => {
    const pendingId = await open();
    harness.clock.advance(601_000);
    expect(await reasonOf(approve(pendingId, {}))).toBe('pending_expired');
  });

  test('that the app may no longer ask for is refused for that reason', async () => {
    const pendingId = await open();
    const settings = (scopes: string[]) => ({ clientId: app.clientId, settings: { scopes } });
    await harness.apps.updateApp(settings([HEART]), await harness.as('dev'));
    expect(await reasonOf(approve(pendingId, {}))).toBe('conflict');
    await harness.apps.updateApp(settings([HEART, MOOD]), await harness.as('dev'));
  });
});

describe('without a new sign-in a person can', () => {
  test('approve a request for ordinary scopes', async () => {
    expect((await approve(await open(HEART), {})).scopes).toEqual([HEART]);
  });

  test('approve only the ordinary scopes of a request', async () => {
    expect((await approve(await open(), {}, { scopes: [HEART] })).scopes).toEqual([HEART]);
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

  test.each(INSUFFICIENT)(
    'for a developer who signed in %s is refused, and the old one keeps working',
    async (_, claims) => {
      expect(await reasonOf(rotate(claims()))).toBe('step_up_required');
      expect(await harness.authorizations.authenticateClient({ client: app })).toMatchObject({
        clientId: app.clientId,
      });
    },
  );

  test('is not made for another developer, however they signed in', async () => {
    expect(await reasonOf(rotate(signIn(), 'eve'))).toBe('not_found');
    expect(await reasonOf(rotate({}, 'eve'))).toBe('step_up_required');
  });

  test('is made after a new sign-in', async () => {
    const { clientSecret } = await rotate(signIn());
    expect(await reasonOf(harness.authorizations.authenticateClient({ client: app }))).toBe('unauthorized');
    app = { ...app, clientSecret };
    expect(await harness.authorizations.authenticateClient({ client: app })).toMatchObject({
      clientId: app.clientId,
    });
  });
});
