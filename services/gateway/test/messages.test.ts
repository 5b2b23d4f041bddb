import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { bearer, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => gateway.backends.answer({ introspect: () => liveToken() }));

async function ask(path: string, method = 'GET') {
  const response = await gateway.fetch(path, { method, headers: bearer() });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body };
}

describe('an unknown category', () => {
  const CATEGORIES =
    'heart, blood-pressure, oxygen, respiratory, glucose, temperature, activity, sleep, body-composition, mindfulness';

  test.each([
    ['heart-rate', 'did you mean "heart"?'],
    ['Heart%20Rate', 'did you mean "heart"?'],
    ['hart', 'did you mean "heart"?'],
    ['heart-data', 'did you mean "heart"?'],
    ['HEART', 'did you mean "heart"?'],
    ['steps', 'did you mean "activity"?'],
    ['spo2', 'did you mean "oxygen"?'],
    ['bloodpressure', 'did you mean "blood-pressure"?'],
    ['nails', `the categories are ${CATEGORIES}`],
    ['__proto__', `the categories are ${CATEGORIES}`],
  ])('%s is answered with the one that was probably meant', async (category, hint) => {
    const { status, body } = await ask(`/api/v1/health-data/${category}`);
    expect([status, body]).toEqual([
      404,
      expect.objectContaining({
        code: 'NOT_FOUND',
        detail: `No category "${category}"; ${hint}`,
      }),
    ]);
  });

  test('is named up to 64 characters', async () => {
    const { body } = await ask(`/api/v1/health-data/${'q'.repeat(5_000)}`);
    expect(body['detail']).toBe(`No category "${'q'.repeat(64)}"; the categories are ${CATEGORIES}`);
  });
});

test.each(['/api/v1/health-data/heart', '/developer/apps', '/partner/consent/grants', '/problems', '/livez'])(
  '%s with another method is METHOD_NOT_ALLOWED, with the methods that it has',
  async (path) => {
    const headers = path.startsWith('/api')
      ? bearer()
      : { authorization: `Bearer ${await gateway.sessions.issueSession('ada')}` };
    const response = await gateway.fetch(path, { method: 'PUT', headers });
    const allow = response.headers.get('allow');
    expect([response.status, await response.json()]).toEqual([
      405,
      {
        type: '/problems/method-not-allowed',
        title: 'Method not allowed',
        status: 405,
        code: 'METHOD_NOT_ALLOWED',
        detail: `This resource answers ${allow} only.`,
        requestId: expect.stringMatching(/^req_/),
      },
    ]);
  },
);

test.each(['0', '-1', '1.5', '', 'ten'])(
  'a pageSize of %j is refused with the range, and with what happens above it',
  async (pageSize) => {
    const { status, body } = await ask(`/api/v1/health-data/heart?pageSize=${pageSize}`);
    expect([status, body['errors']]).toEqual([
      400,
      [
        {
          parameter: 'pageSize',
          message: 'must be a whole number from 1 to 100; more is taken as 100',
        },
      ],
    ]);
  },
);

test('a userless token is told that it has no user', async () => {
  const userless = { userId: '', grantId: '', familyId: '' };
  gateway.backends.answer({ introspect: () => liveToken({ principal: userless }) });
  const { status, body } = await ask('/api/v1/health-data/heart');
  expect([status, body]).toEqual([
    403,
    expect.objectContaining({
      code: 'CONSENT_REQUIRED',
      detail: 'This token has no user. Use one from the authorization code flow.',
    }),
  ]);
});

test('an expired access token gets the challenge invalid_token, by which OAuth clients know to refresh', async () => {
  gateway.backends.answer({ introspect: () => ({ status: TokenStatus.EXPIRED }) });
  const { status, headers, body } = await ask('/api/v1/health-data/heart');
  expect([status, body['code'], headers.get('www-authenticate')]).toEqual([
    401,
    'TOKEN_EXPIRED',
    'Bearer realm="phds", error="invalid_token"',
  ]);
});
