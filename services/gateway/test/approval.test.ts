import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AppError } from '@phds/service-kit/errors';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
let cookie: string;
const REDIRECT = 'https://a.test/cb?code=c&state=s';
const BROWSER = { accept: 'text/html,*/*;q=0.8', 'sec-fetch-site': 'same-origin' };

beforeAll(async () => {
  gateway = await startTestGateway();
  cookie = `session=${await gateway.sessions.issueSession('ada', { expiresInSeconds: 86_400 })}`;
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.backends.calls.length = 0;
});

const completeAuthorization = () => ({
  grantId: 'grt_1',
  scopes: ['read:mood'],
  grantExpiresAt: timestampFromDate(new Date('2026-06-01T00:00:00Z')),
  redirectUri: REDIRECT,
});

function decide(decision: string, init: { headers?: Record<string, string>; body?: string } = {}) {
  return gateway.fetch(`/partner/consent/pending/apr_1/${decision}`, {
    method: 'POST',
    ...init,
    headers: { cookie, 'sec-fetch-site': 'same-origin', ...init.headers },
  });
}

describe('a decision', () => {
  test('approves all requested scopes when none are named', async () => {
    gateway.backends.answer({ completeAuthorization });
    const response = await decide('approve');
    expect(await response.json()).toEqual({
      data: {
        id: 'apr_1',
        status: 'approved',
        grantId: 'grt_1',
        scopes: ['read:mood'],
        grantExpiresAt: '2026-06-01T00:00:00.000Z',
        redirectUri: REDIRECT,
      },
    });
    expect(gateway.backends.callsOf('completeAuthorization')[0]?.request).toMatchObject({
      pendingId: 'apr_1',
      allRequested: true,
    });
  });

  test('can approve a subset of scopes, with an expiry and a first day of data', async () => {
    gateway.backends.answer({ completeAuthorization });
    const body = JSON.stringify({
      scopes: ['read:mood'],
      expiresInDays: 30,
      dataFrom: '2026-01-01',
      language: 'de',
      revision: 'r1',
    });
    await decide('approve', { headers: { 'content-type': 'application/json' }, body });
    expect(gateway.backends.callsOf('completeAuthorization')[0]?.request).toMatchObject({
      scopes: ['read:mood'],
      allRequested: false,
      expiresInDays: 30,
      dataFrom: '2026-01-01',
      language: 'de',
      revision: 'r1',
    });
  });

  test.each(['', 'x'.repeat(129)])(
    'with a revision that cannot be one is refused by name',
    async (revision) => {
      const init = { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ revision }) };
      const response = await decide('approve', init);
      expect(await response.json()).toMatchObject({ status: 400, errors: [{ parameter: 'revision' }] });
      expect(gateway.backends.calls).toEqual([]);
    },
  );

  test('about terms that have changed is a 409 that says so', async () => {
    gateway.backends.answer({
      completeAuthorization: () => {
        throw new AppError('conflict', 'What you share with this app has changed.');
      },
    });
    expect(await (await decide('approve')).json()).toMatchObject({
      status: 409,
      code: 'CONFLICT',
      detail: 'What you share with this app has changed.',
    });
    const page = await decide('approve', { headers: BROWSER });
    expect([page.status, page.headers.get('location')]).toEqual([303, '/approve/apr_1?problem=conflict']);
  });

  test('in a language without texts is refused by name and changes nothing', async () => {
    const init = { headers: { 'content-type': 'application/json' }, body: '{"language":"fr"}' };
    const response = await decide('approve', init);
    expect(await response.json()).toMatchObject({
      status: 400,
      code: 'INVALID_REQUEST',
      errors: [{ parameter: 'language', message: 'must be a tag of one of en, de' }],
    });
    expect(gateway.backends.calls).toEqual([]);
  });

  test('with an empty list of scopes is refused and changes nothing', async () => {
    const init = { headers: { 'content-type': 'application/json' }, body: '{"scopes":[]}' };
    const response = await decide('approve', init);
    expect(await response.json()).toMatchObject({ status: 400, code: 'NO_SCOPES_APPROVED' });
    expect(gateway.backends.calls).toEqual([]);
  });

  test('denies', async () => {
    gateway.backends.answer({ denyAuthorization: () => ({ redirectUri: REDIRECT }) });
    const response = await decide('deny');
    expect(await response.json()).toEqual({ data: { id: 'apr_1', status: 'denied', redirectUri: REDIRECT } });
  });

  test.each(['pending_expired', 'already_decided', 'app_not_active'] as const)(
    'too late: %s',
    async (reason) => {
      gateway.backends.answer({
        completeAuthorization: () => {
          throw new AppError(reason);
        },
      });
      const response = await decide('approve');
      expect(await response.json()).toMatchObject({ status: 409, code: reason.toUpperCase() });
      const page = await decide('approve', { headers: BROWSER });
      expect([page.status, page.headers.get('location')]).toEqual([303, `/approve/apr_1?problem=${reason}`]);
    },
  );
});

test('an approval that needs a new sign-in is a 403 that says which, and the page of a form shows it', async () => {
  gateway.backends.answer({
    completeAuthorization: () => {
      throw new AppError('step_up_required', 'This needs a sign-in at most 300 seconds old. Sign in again.');
    },
  });
  expect(await (await decide('approve')).json()).toMatchObject({
    status: 403,
    code: 'STEP_UP_REQUIRED',
    type: '/problems/step-up-required',
    detail: 'This needs a sign-in at most 300 seconds old. Sign in again.',
  });
  const page = await decide('approve', { headers: BROWSER });
  expect([page.status, page.headers.get('location')]).toEqual([
    303,
    '/approve/apr_1?problem=step_up_required',
  ]);
});

test('an approval with the null revision that a consent service of the release before leads to is sent without one', async () => {
  gateway.backends.answer({ completeAuthorization });
  const body = JSON.stringify({ revision: null });
  const response = await decide('approve', { headers: { 'content-type': 'application/json' }, body });
  expect(response.status).toBe(200);
  expect(gateway.backends.callsOf('completeAuthorization')[0]?.request).toMatchObject({ revision: '' });
});

describe('the approval form', () => {
  const form = (body: string) =>
    decide('approve', { headers: { ...BROWSER, 'content-type': 'application/x-www-form-urlencoded' }, body });

  test('redirects the browser to the app', async () => {
    gateway.backends.answer({ completeAuthorization });
    const response = await form(
      'scopes=read%3Amood&scopes=read%3Aehr&expiresInDays=90&dataFrom=&revision=r1',
    );
    expect([response.status, response.headers.get('location')]).toEqual([303, REDIRECT]);
    expect(gateway.backends.callsOf('completeAuthorization')[0]?.request).toMatchObject({
      scopes: ['read:mood', 'read:ehr'],
      allRequested: false,
      expiresInDays: 90,
      dataFrom: '',
      revision: 'r1',
    });
  });

  test.each([['true'], ['yes']])('with keepExpiry=%s keeps the end or is refused by name', async (given) => {
    gateway.backends.answer({ completeAuthorization });
    const response = await form(`scopes=read%3Amood&keepExpiry=${given}`);
    const location = given === 'true' ? REDIRECT : '/approve/apr_1?problem=invalid_request';
    expect([response.status, response.headers.get('location')]).toEqual([303, location]);
    const kept = gateway.backends
      .callsOf('completeAuthorization')
      .map(({ request }) => request as { keepExpiry: boolean });
    expect(kept).toMatchObject(given === 'true' ? [{ keepExpiry: true, expiresInDays: 0 }] : []);
  });

  test('with nothing ticked shares nothing', async () => {
    const response = await form('expiresInDays=90');
    expect(response.headers.get('location')).toBe('/approve/apr_1?problem=no_scopes_approved');
    expect(gateway.backends.calls).toEqual([]);
  });
});
