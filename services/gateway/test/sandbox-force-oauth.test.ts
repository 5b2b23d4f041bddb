import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AppError, invalidRequest, unauthorized, unavailable } from '@phds/service-kit/errors';
import { OAUTH_OPERATIONS } from '../src/http/oauth/operations.ts';
import { FORCED_GRANT_ERRORS, FORCED_TOKEN_ERRORS } from '../src/http/sandbox/forced-oauth-errors.ts';
import type { Answers } from './fake-backends.ts';
import { exchangeRaw, withoutVariations } from './raw-exchange.ts';
import { bearer, documentOf, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;

const CLIENT = 'app_sandbox_1';

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const force = (code: string) => [`Sandbox-Force: ${code}`];

describe('a forced error of the token endpoints', () => {
  const credentials = (clientId: string) =>
    `client_id=${clientId}&client_secret=s&grant_type=refresh_token&token=t`;

  async function postRaw(path: string, fields: readonly string[], clientId = CLIENT): Promise<string> {
    const head = [
      `POST /oauth/${path} HTTP/1.1`,
      'Content-Type: application/x-www-form-urlencoded',
      ...fields,
    ].join('\r\n');
    return withoutVariations(await exchangeRaw(gateway.port, head, credentials(clientId)));
  }

  function reply(clientId: string, error?: AppError) {
    const act = () => (error === undefined ? Promise.resolve({}) : Promise.reject(error));
    gateway.backends.answer({
      authenticateClient: () => ({ clientId }),
      issueToken: act,
      revokeToken: act,
      introspectOwnToken: act,
    } as Answers);
  }

  const ERRORS: readonly [code: string, AppError][] = [
    ['UNAUTHORIZED', unauthorized()],
    ['INTERNAL_ERROR', new AppError('internal')],
    ['INTERNAL_ERROR/503', unavailable()],
    [
      'INVALID_GRANT',
      new AppError('invalid_grant', 'The grant is invalid, expired, revoked or already used.'),
    ],
    ['INVALID_SCOPE', new AppError('invalid_scope', 'The scope exceeds what the person shares.')],
    [
      'UNSUPPORTED_GRANT_TYPE',
      new AppError(
        'unsupported_grant_type',
        'The grant_type must be one of authorization_code, refresh_token, client_credentials.',
      ),
    ],
  ];

  const cases = [
    ...ERRORS.map(([code, error]) => ['token', code, error] as const),
    ['token', 'INVALID_REQUEST', invalidRequest('code', 'is required')] as const,
    ...['revoke', 'introspect'].flatMap((path) => [
      ...ERRORS.slice(0, 3).map(([code, error]) => [path, code, error] as const),
      [path, 'INVALID_REQUEST', invalidRequest('token', 'is required')] as const,
    ]),
  ];

  test.each(cases)('/oauth/%s: %s is the real one, byte for byte', async (path, code, error) => {
    reply(CLIENT, error);
    const expected = await postRaw(path, []);
    expect(expected).not.toMatch(/^HTTP\/1.1 200/);
    reply(CLIENT);
    expect(await postRaw(path, force(code))).toBe(expected);
  });

  test.each(['token', 'revoke', 'introspect'])(
    '/oauth/%s: credentials that were right before get the uniform 401, byte for byte, whatever they ask for',
    async (path) => {
      const replaced = {
        authenticateClient: () => Promise.reject(unauthorized()),
        issueToken: () => Promise.reject(unauthorized()),
        revokeToken: () => Promise.reject(unauthorized()),
        introspectOwnToken: () => Promise.reject(unauthorized()),
      };
      const postReplaced = async (fields: readonly string[]) => {
        reply(CLIENT);
        await postRaw(path, []);
        gateway.backends.answer(replaced);
        return [await postRaw(path, fields), await postRaw(path, fields)];
      };
      const expected = await postReplaced([]);
      expect(expected[0]).toMatch(/^HTTP\/1.1 401/);
      for (const code of ['INTERNAL_ERROR', 'RATE_LIMITED', 'NO_SUCH_CODE']) {
        expect(await postReplaced(force(code))).toEqual(expected);
      }
    },
  );

  test('RATE_LIMITED says that the limit is used up, and when to try again', async () => {
    reply(CLIENT);
    const raw = await postRaw('token', force('RATE_LIMITED'));
    expect(raw).toMatch(/^HTTP\/1.1 429/);
    expect(raw).toContain('RateLimit: "client";r=0;t=s');
    expect(raw).toMatch(/Retry-After: /);
    expect(raw).toContain('"code":"RATE_LIMITED"');
  });

  test('exists for every code that is documented for them', () => {
    for (const [id, table] of [
      ['issueTokens', FORCED_GRANT_ERRORS],
      ['revokeToken', FORCED_TOKEN_ERRORS],
      ['introspectToken', FORCED_TOKEN_ERRORS],
    ] as const) {
      const errors = OAUTH_OPERATIONS.find(({ operationId }) => operationId === id)?.errors ?? [];
      expect(errors.length).toBeGreaterThan(3);
      expect(errors.filter((code) => !(String(code) in table))).toEqual([]);
    }
  });

  test('is never answered to a live app, and a value that is no code is refused for a sandbox app', async () => {
    reply('app_1');
    const expected = await postRaw('token', [], 'app_1');
    for (const code of [...Object.keys(FORCED_GRANT_ERRORS), 'NOPE']) {
      expect(await postRaw('token', force(code), 'app_1')).toBe(expected);
    }
    reply(CLIENT);
    for (const code of ['NOPE', 'NOT_FOUND', 'constructor']) {
      const raw = await postRaw('token', force(code));
      expect(raw).toMatch(/^HTTP\/1.1 400/);
      expect(raw).toContain('must be one of UNAUTHORIZED');
    }
    expect(await postRaw('revoke', force('INVALID_GRANT'))).toMatch(/^HTTP\/1.1 400/);
  });
});

test('sandbox apps have limits of their own', async () => {
  await using limited = await startTestGateway({
    LIMIT_SANDBOX_APP_USER_PER_MINUTE: '1',
    LIMIT_SANDBOX_CLIENT_PER_MINUTE: '1',
  });
  for (const [clientId, expected] of [
    [CLIENT, [200, 429]],
    ['app_1', [200, 200]],
  ] as const) {
    limited.backends.answer({
      introspect: () => liveToken({ principal: { clientId, userId: 'u' } }),
      read: () => documentOf({ data: [] }),
      authenticateClient: () => ({ clientId }),
    });
    limited.service.cache.clear();
    const read = async () => (await limited.fetch('/api/v1/health-data/heart', { headers: bearer() })).status;
    expect([await read(), await read()]).toEqual(expected);
    const body = new URLSearchParams({ client_id: clientId, client_secret: 's', token: 't' });
    const revoke = async () => (await limited.fetch('/oauth/revoke', { method: 'POST', body })).status;
    expect([await revoke(), await revoke()]).toEqual(expected);
  }
});
