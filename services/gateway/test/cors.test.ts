import { beforeEach, describe, expect, test } from '@jest/globals';
import { shareTestGateway } from './test-gateway.ts';

const ORIGIN = 'https://app.test';
const gateway = shareTestGateway();

const corsOf = ({ headers }: Response) => [headers.get('access-control-allow-origin'), headers.get('vary')];
const preflight = (path: string, origin = ORIGIN) =>
  gateway.fetchUnchecked(path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'dpop' },
  });
const post = (path: string, origin: string | null, parameters: Record<string, string>) =>
  gateway.fetchUnchecked(path, {
    method: 'POST',
    headers: origin === null ? {} : { origin },
    body: new URLSearchParams(parameters),
  });

const TOKENS = { client_id: 'app_1', grant_type: 'authorization_code', code: 'c', redirect_uri: ORIGIN };

function answerAs(applicationType: string) {
  gateway.backends.answer({
    authenticateClient: ({ origin }) => ({
      clientId: 'app_1',
      applicationType,
      originAllowed: origin === ORIGIN,
    }),
    issueToken: () => ({ accessToken: 'a', expiresInSeconds: 60, scope: 's', dpopBound: true }),
  });
}

beforeEach(() => answerAs('browser'));

describe('a preflight request', () => {
  test.each(['/oauth/token', '/oauth/par', '/oauth/revoke', '/api/v1/profile'])(
    'of %s is answered',
    async (path) => {
      const answers = [await preflight(path), await preflight(path, 'https://other.test')];
      const [one, other] = answers.map(({ status, headers }) => [
        status,
        ...[...headers].filter(([name]) => name !== 'date'),
      ]);
      expect(one).toEqual(other);
      expect(answers[0]?.status).toBe(204);
      expect(answers[0]?.headers.get('access-control-allow-headers')).toContain('DPoP');
      expect(answers[0]?.headers.get('access-control-allow-credentials')).toBeNull();
    },
  );

  test.each(['/oauth/authorize', '/oauth/introspect', '/oauth/grants', '/developer/apps', '/partner/grants'])(
    'of %s opens nothing',
    async (path) => {
      const answer = await preflight(path);
      expect(answer.status).not.toBe(204);
      expect(corsOf(answer)[0]).toBeNull();
    },
  );
});

describe('a request of a page to /oauth/token', () => {
  test('gets an answer for the registered origin', async () => {
    const answer = await post('/oauth/token', ORIGIN, TOKENS);
    expect([answer.status, ...corsOf(answer)]).toEqual([200, ORIGIN, 'Origin']);
    expect(answer.headers.get('access-control-expose-headers')).toContain('Date');
  });

  test('gets errors that the page may read', async () => {
    gateway.backends.answer({
      authenticateClient: () => ({ clientId: 'app_1', applicationType: 'browser', originAllowed: true }),
      issueToken: () => {
        throw new Error('away');
      },
    });
    const answer = await post('/oauth/token', ORIGIN, TOKENS);
    expect([answer.status >= 400, corsOf(answer)[0]]).toEqual([true, ORIGIN]);
  });

  test('of another origin is refused with no field, and its code is not used', async () => {
    const answer = await post('/oauth/token', 'https://other.test', TOKENS);
    expect([answer.status, corsOf(answer)[0]]).toEqual([400, null]);
    expect(gateway.backends.callsOf('issueToken')).toEqual([]);
  });

  test.each([
    ['without an origin', 'browser', null],
    ['of a native app', 'native', ORIGIN],
  ])('%s gets an answer without a field', async (_what, type, origin) => {
    answerAs(type);
    const answer = await post('/oauth/token', origin, TOKENS);
    expect([answer.status, corsOf(answer)[0]]).toEqual([200, null]);
  });

  test('of an app with a secret gets none', async () => {
    const answer = await post('/oauth/token', ORIGIN, { ...TOKENS, client_secret: 's' });
    expect([answer.status, corsOf(answer)[0]]).toEqual([200, null]);
  });
});

test('requests of an app without a secret are counted by address, not by app', async () => {
  const narrow = { ...TOKENS, client_id: 'app_2' };
  const { headers } = await post('/oauth/token', null, narrow);
  expect(headers.get('ratelimit-policy')).toContain('public-clients');
});
