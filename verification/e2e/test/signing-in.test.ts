import { beforeEach, expect, test } from '@jest/globals';
import { send } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { eventually } from '@phds/test-kit/conditions';
import { signOut } from '../src/sessions.ts';
import { SignInVisit } from '../src/sign-in-visit.ts';

let visit: SignInVisit;

const stack = await useSharedStack();
beforeEach(() => {
  visit = new SignInVisit();
});

/** The session in the cookie of the public gateway. */
const sessionOf = (visitor: SignInVisit) => visitor.find(stack.gateway, 'session') ?? '';

/** The status of a request with this session at each gateway. */
const statusesOf = async (session: string) => {
  const headers = { Cookie: `session=${session}` };
  const answers = stack.gatewayUrls.map((url) => send(`${url}/partner/session`, { headers }));
  return (await Promise.all(answers)).map(({ status }) => status);
};

test('a person signs in and returns to the page; the session works at every gateway', async () => {
  const place = await visit.signIn(stack.gateway, 'signing-in-ada', '/approve/apr_1?x=1');
  expect([place.url.href, place.status]).toEqual([`${stack.gateway}/approve/apr_1?x=1`, 200]);
  expect(await statusesOf(sessionOf(visit))).toEqual([200, 200]);
  expect(visit.list(stack.gateway).map(({ name }) => name)).toEqual(['session']);
});

test('a person switches the account, and the page returned to belongs to the other one', async () => {
  await visit.signIn(stack.gateway, 'signing-in-ada');
  const first = sessionOf(visit);
  const choice = await visit.open(`${stack.gateway}/sign-in?switch=1&return_to=/approve/apr_1`);
  expect(choice.url.origin).toBe(stack.identityProviderUrl);
  expect(choice.text).toContain('Signed in as signing-in-ada');
  const signedOut = await visit.pick(choice, 'signing-in-grace');
  // The provider signs the first person out before it signs the second one in, by a form that sends itself.
  const place = await visit.submit(signedOut, {});
  expect(place.url.href).toBe(`${stack.gateway}/approve/apr_1`);
  const headers = { Cookie: `session=${sessionOf(visit)}` };
  const { body } = await send(`${stack.gateway}/partner/session`, { headers });
  expect(body.data.userId).toBe('signing-in-grace');
  await eventually(async () => expect(await statusesOf(first)).toEqual([401, 401]));
});

test('a cancelled sign-in shows a message with a way to try again', async () => {
  const asking = await visit.open(`${stack.gateway}/sign-in?return_to=/data`);
  const place = await visit.submit(asking, { cancel: 'yes' });
  expect([place.status, place.url.pathname]).toEqual([403, '/sign-in/callback']);
  expect(place.text).toContain('&quot;SIGN_IN_REFUSED&quot;');
  expect(place.text).toContain('&quot;/sign-in?return_to=%2Fdata&quot;');
});

test('signing out ends the session at every gateway, and leads to the logout of the provider and back', async () => {
  await visit.signIn(stack.gateway, 'signing-in-ada');
  const session = sessionOf(visit);
  const { status, body } = await signOut(stack.gateway, session);
  expect(status).toBe(200);
  expect(await statusesOf(session)).toEqual([401, 401]);
  const target = new URL(body.data.continueTo);
  expect(target.origin).toBe(stack.identityProviderUrl);
  expect(target.searchParams.get('post_logout_redirect_uri')).toBe(`${stack.gateway}/`);
  expect((await visit.open(target)).status).toBe(200);
});

test('a logout at the provider ends the session at every gateway', async () => {
  await visit.signIn(stack.gateway, 'signing-in-grace');
  const session = sessionOf(visit);
  await visit.submit(await visit.open(`${stack.identityProviderUrl}/session/end`), { logout: 'yes' });
  await eventually(async () => expect(await statusesOf(session)).toEqual([401, 401]));
});
