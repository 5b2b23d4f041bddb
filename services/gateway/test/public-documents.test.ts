import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { unavailable } from '@phds/service-kit/errors';
import { eventually } from '@phds/test-kit/conditions';
import { scrape } from '@phds/test-kit/scrape';
import { SURFACES } from '../src/http/operations.ts';
import { SIGN_IN_ROUTES } from '../src/http/sign-in/sign-in.ts';
import { shareTestGateway, startTestGateway, type TestGateway } from './test-gateway.ts';

/** The lines that a gateway has logged. */
const linesOf = ({ log }: TestGateway) => log.map((line) => JSON.parse(line));

describe('public documents', () => {
  const gateway = shareTestGateway({ PUBLIC_URL: 'https://health.test/' });

  const json = async (path: string) =>
    (await (await gateway.fetch(path)).json()) as Record<string, unknown[] | undefined>;

  test('the server metadata of RFC 8414 names every endpoint under the issuer', async () => {
    const metadata = await json('/.well-known/oauth-authorization-server');
    expect(metadata).toMatchObject({
      issuer: 'https://health.test',
      token_endpoint: 'https://health.test/oauth/token',
      pushed_authorization_request_endpoint: 'https://health.test/oauth/par',
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      scopes_supported: [...SCOPE_NAMES],
    });
  });

  describe('the receipt keys', () => {
    const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });

    test('are published without additional members of the setting', async () => {
      const RECEIPT_PUBLIC_KEYS = JSON.stringify({ keys: [{ ...jwk, kid: 'a', note: 'internal' }] });
      await using publishing = await startTestGateway({ RECEIPT_PUBLIC_KEYS });
      const response = await publishing.fetch('/.well-known/jwks.json');
      expect(await response.json()).toEqual({ keys: [{ ...jwk, kid: 'a', alg: 'EdDSA', use: 'sig' }] });
      expect(await json('/.well-known/jwks.json')).toEqual({ keys: [] });
    });

    test.each([
      ['a private key', { keys: [{ ...jwk, kid: 'a', d: 'secret' }] }],
      ['a key without a name', { keys: [jwk] }],
      ['a secret of both sides', { keys: [{ kty: 'oct', k: 'secret', kid: 'a' }] }],
      ['something else', 'keys'],
    ])('%s stops start-up', async (_, keys) => {
      await expect(startTestGateway({ RECEIPT_PUBLIC_KEYS: JSON.stringify(keys) })).rejects.toThrow(
        /RECEIPT_PUBLIC_KEYS: must be a JWKS of Ed25519 public keys/,
      );
    });
  });

  test('the scopes are a paginated list', async () => {
    expect(await json('/oauth/scopes?page=2&pageSize=15')).toMatchObject({
      data: { length: 7 },
      pagination: { page: 2, pageSize: 15, total: 22, totalPages: 2 },
    });
    const { data } = await json('/oauth/scopes');
    expect(Object.keys(data?.[0] ?? {})).toEqual([
      'scope',
      'title',
      'description',
      'category',
      'sensitive',
      'endpoints',
    ]);
  });

  describe('cross-origin', () => {
    test.each([
      '/.well-known/oauth-authorization-server',
      '/.well-known/jwks.json',
      '/catalog.json',
      '/openapi.json',
      '/oauth/scopes',
      '/api/versions',
    ])('%s is readable from every origin', async (path) => {
      const asked = await gateway.fetch(path, { method: 'OPTIONS', headers: { origin: 'https://a.test' } });
      expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
      const { status, headers } = await gateway.fetch(path);
      expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    });

    test.each(['/', '/livez', '/readyz', '/catalog.json', '/oauth/scopes', '/api/versions'])(
      '%s answers HEAD as GET, without the body',
      async (path) => {
        const [got, head] = [await gateway.fetch(path), await gateway.fetch(path, { method: 'HEAD' })];
        const about = ({ status, headers }: Response) => [status, headers.get('content-type')];
        expect([...about(head), await head.text()]).toEqual([...about(got), '']);
      },
    );
  });

  describe('probes', () => {
    test('a gateway is ready once authorization has answered, and stays in service when it fails later', async () => {
      const fail = () => {
        throw unavailable();
      };
      await using another = await startTestGateway({}, { introspect: fail });
      const readinessAfter = async (introspect: () => object) => {
        another.backends.answer({ introspect });
        another.clock.advance(2_000);
        const metrics = await scrape(`http://127.0.0.1:${another.service.probePort}`);
        return [(await another.fetch('/readyz')).status, metrics.sum('phds_ready')];
      };
      expect((await another.fetch('/livez')).status).toBe(200);
      expect(await readinessAfter(fail)).toEqual([503, 0]);
      await eventually(async () => expect(await readinessAfter(() => ({}))).toEqual([200, 1]));
      expect(await readinessAfter(fail)).toEqual([200, 0]);
      const problems = [expect.objectContaining({ setting: 'AUTHORIZATION_ADDRESS' })];
      const [first] = linesOf(another);
      expect(first).toMatchObject({ msg: 'not ready', problems });
      await eventually(() => linesOf(another).some(({ msg }) => msg === 'ready'));
    });
  });

  test('a gateway whose PUBLIC_URL is not the issuer of authorization says so when it is ready', async () => {
    await using another = await startTestGateway({}, { issuer: 'https://other.test' });
    const problems = [expect.objectContaining({ setting: 'PUBLIC_URL' })];
    await eventually(() =>
      expect(linesOf(another)).toContainEqual(expect.objectContaining({ level: 'error', problems })),
    );
  });

  test.each([
    ['GET', '/nothing', 404],
    ['GET', '/API/v1/profile', 404],
    ['GET', '/apix', 404],
    ['POST', '/livez', 405],
    ['GET', '/approve/%zz', 400],
    ['GET', `/${'x'.repeat(9_000)}`, 400],
  ])('%s %s is a problem document of status %i', async (method, path, status) => {
    const response = await gateway.fetch(path, { method });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      status,
      'application/problem+json',
    ]);
  });
});

test('every operation is below the prefix at which it is mounted', () => {
  for (const [prefix, operations] of Object.entries(SURFACES)) {
    for (const { path } of operations) expect(path.startsWith(`${prefix}/`)).toBe(true);
  }
});

test('every sign-in, sign-out, registration, rotation, approval and revocation is in the security log', () => {
  const routes = [...SIGN_IN_ROUTES, ...Object.values(SURFACES).flat()];
  const logged = routes.filter(({ securityEvent }) => securityEvent !== undefined);
  const events = logged.map(({ method, path, securityEvent }) => [`${method} ${path}`, securityEvent]);
  expect(Object.fromEntries(events)).toEqual({
    'GET /sign-in/callback': 'sign-in',
    'POST /sign-out': 'sign-out',
    'POST /sign-out/back-channel': 'sign-out',
    'POST /developer/apps': 'registration',
    'POST /developer/apps/:clientId/rotate-secret': 'rotation',
    'POST /developer/apps/:clientId/webhook/rotate-secret': 'rotation',
    'POST /developer/apps/:clientId/status': 'revocation',
    'POST /partner/consent/pending/:id/approve': 'approval',
    'PATCH /partner/consent/grants/:id': 'revocation',
    'DELETE /partner/consent/grants/:id': 'revocation',
    'POST /partner/consent/grants/revoke-all': 'revocation',
    'POST /oauth/revoke': 'revocation',
    'DELETE /oauth/grants/:id': 'revocation',
  });
});
