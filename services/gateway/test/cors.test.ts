import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { unauthorized } from '@phds/service-kit/errors';
import { newSecret } from '@phds/service-kit/secrets';
import type { Operation } from '../src/http/operation.ts';
import { OPERATIONS } from '../src/http/operations.ts';
import type { Answers } from './fake-backends.ts';
import { documentOf, liveToken, shareTestGateway } from './test-gateway.ts';

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

beforeEach(() =>
  gateway.backends.answer({
    authenticateClient: () => ({ clientId: 'app_1' }),
    issueToken: () => ({ accessToken: 'a', expiresInSeconds: 60, scope: 's' }),
  }),
);

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

  test('lists the methods that its path answers, and no other', async () => {
    const wrong: unknown[] = [];
    let answered = 0;
    for (const [path, operations] of Map.groupBy(OPERATIONS, (operation) => operation.path)) {
      const { status, headers } = await preflight(
        path.replace(':type', 'Observation').replaceAll(/:\w+/g, 'x'),
      );
      if (status !== 204) continue;
      answered += 1;
      const listed = headers.get('access-control-allow-methods');
      const methods = operations.flatMap(({ method, also = [] }: Operation) => [method, ...also]);
      if (listed !== methods.join(', ')) wrong.push([path, listed, methods]);
    }
    expect(wrong).toEqual([]);
    expect(answered).toBeGreaterThan(30);
  });

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
  test.each<[string, Record<string, string>]>([
    ['without a secret', {}],
    ['with a secret', { client_secret: 's' }],
  ])('by an app %s gets an answer that every page may read', async (_what, credential) => {
    const answer = await post('/oauth/token', ORIGIN, { ...TOKENS, ...credential });
    expect([answer.status, ...corsOf(answer)]).toEqual([200, '*', null]);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('access-control-expose-headers')).toContain('Date');
  });

  test('may read mistakes that are found before the app is known, by which a page corrects its clock', async () => {
    const answer = await gateway.fetchUnchecked('/oauth/token', {
      method: 'POST',
      headers: { origin: ORIGIN, dpop: 'no proof' },
      body: new URLSearchParams(TOKENS),
    });
    expect([answer.status, ...corsOf(answer)]).toEqual([400, '*', null]);
  });
});

describe('a request of a page to the data API', () => {
  test.each<[string, number, NonNullable<Answers['introspect']>]>([
    ['data', 200, () => liveToken()],
    ['TOKEN_EXPIRED', 401, () => ({ status: TokenStatus.EXPIRED })],
    ['CONSENT_REQUIRED', 403, () => liveToken({ principal: { userId: '' } })],
  ])('may read %s', async (_what, status, introspect) => {
    gateway.backends.answer({ introspect, read: () => documentOf({}) });
    const headers = { authorization: `Bearer ${newSecret('access_token')}`, origin: ORIGIN };
    const answer = await gateway.fetchUnchecked('/api/v1/profile', { headers });
    expect([answer.status, ...corsOf(answer)]).toEqual([status, '*', null]);
  });
});

describe('the uniform 401', () => {
  test.each(['/api/v1/profile', '/oauth/token'])(
    'of %s may be read by every page, and has no other field for one',
    async (path) => {
      gateway.backends.answer({
        authenticateClient: () => {
          throw unauthorized();
        },
      });
      const ask = (headers: Record<string, string>) =>
        path.startsWith('/api')
          ? gateway.fetchUnchecked(path, { headers })
          : gateway.fetchUnchecked(path, { method: 'POST', headers, body: new URLSearchParams(TOKENS) });
      const [page, other] = [await ask({ origin: 'https://any.test' }), await ask({})];
      expect([page.status, ...corsOf(page)]).toEqual([401, '*', null]);
      const namesOf = ({ headers }: Response) =>
        [...headers.keys()].filter((name) => !name.startsWith('access-'));
      expect(namesOf(page)).toEqual(namesOf(other));
      expect([corsOf(other)[0], await other.text()]).toEqual([null, await page.text()]);
    },
  );
});
