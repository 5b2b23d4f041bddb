import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { AppLockKind, AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { shareCaller, shareTestGateway } from './test-gateway.ts';

const gateway = shareTestGateway({ LIMITS: 'user-costly=10000' });
const { call, session } = shareCaller(gateway, 'ada');
const time = timestampFromDate(new Date('2026-03-01T10:00:00.5Z'));
const INSTANT = '2026-03-01T10:00:00.500Z';

const app = {
  clientId: 'app_1',
  secretLast4: 'abcd',
  name: 'Één',
  redirectUris: ['https://a.test/cb'],
  scopes: ['read:mood'],
  developerName: 'Pulse GmbH',
  status: AppStatus.SUSPENDED,
  lock: { kind: AppLockKind.SUSPENSION, reason: 'No answer.', since: time },
  createdAt: time,
  updatedAt: time,
};
const appJson = {
  clientId: 'app_1',
  secretLast4: 'abcd',
  name: 'Één',
  redirectUris: ['https://a.test/cb'],
  scopes: ['read:mood'],
  description: null,
  developerName: 'Pulse GmbH',
  homepageUrl: null,
  privacyPolicyUrl: null,
  requirePkce: false,
  tokenEndpointAuthMethod: 'client_secret_basic',
  jwks: null,
  jwksUri: null,
  jwksFetchedAt: null,
  jwksFailure: null,
  dpopBoundAccessTokens: false,
  requirePushedAuthorizationRequests: false,
  applicationType: 'server',
  status: 'suspended',
  lock: { kind: 'suspension', reason: 'No answer.', since: INSTANT },
  createdAt: INSTANT,
  updatedAt: INSTANT,
};

describe('developers', () => {
  test('register an app and see its secret only in that response', async () => {
    gateway.backends.answer({ registerApp: () => ({ app, clientSecret: 'phds_cs_x' }) });
    const sent = {
      name: 'One',
      redirectUris: ['https://a.test/cb'],
      description: null,
      developerName: 'Pulse GmbH',
      requirePkce: true,
    };
    const { response, status, body } = await call('POST', '/developer/apps', sent);
    expect([status, response.headers.get('location')]).toEqual([201, '/developer/apps/app_1']);
    expect(body).toEqual({ data: { ...appJson, clientSecret: 'phds_cs_x' } });
    expect(gateway.backends.callsOf('registerApp')[0]).toMatchObject({
      session: session(),
      request: {
        settings: { ...sent, description: '' },
      },
    });
  });

  test('set keys, see the public ones, and get no secret if the app has none', async () => {
    const jwks = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x' }] };
    const keyed = {
      ...app,
      secretLast4: '',
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: JSON.stringify(jwks),
    };
    gateway.backends.answer({
      registerApp: () => ({ app: keyed, clientSecret: '' }),
      updateApp: () => ({ app }),
    });
    const sent = { name: 'One', redirectUris: ['https://a.test/cb'], jwks };
    const { body } = await call('POST', '/developer/apps', sent);
    expect(body.data).toMatchObject({
      clientSecret: null,
      secretLast4: '',
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks,
    });
    const settingsOf = (rpc: string) => gateway.backends.callsOf(rpc as 'updateApp')[0]?.request['settings'];
    expect(settingsOf('registerApp')).toMatchObject({ jwks: JSON.stringify(jwks) });
    const jwksUri = 'https://a.test/keys';
    const failed = { jwksUri, jwksFetchedAt: time, jwksFailure: 'there was no connection' };
    gateway.backends.answer({ updateApp: () => ({ app: { ...keyed, ...failed } }) });
    const changed = await call('PATCH', '/developer/apps/app_1', {
      jwksUri,
      jwks: null,
    });
    expect(settingsOf('updateApp')).toMatchObject({ jwksUri, jwks: '' });
    expect(changed.body.data).toMatchObject({ ...failed, jwks, jwksFetchedAt: INSTANT });
  });

  test('list, read and change apps', async () => {
    gateway.backends.answer({
      listApps: () => ({ apps: [app], total: 21 }),
      updateApp: () => ({ app }),
    });
    expect((await call('GET', '/developer/apps?page=2')).body).toEqual({
      data: [appJson],
      pagination: { page: 2, pageSize: 20, total: 21, totalPages: 2 },
      mayRegister: true,
      sandbox: false,
    });
    expect((await call('GET', '/developer/apps/app_1')).body).toEqual({ data: appJson });
    expect(gateway.backends.callsOf('listApps')[1]?.request).toMatchObject({ clientId: 'app_1' });
    expect((await call('PATCH', '/developer/apps/app_1', { name: 'Two' })).body).toEqual({ data: appJson });
    const settings = gateway.backends.callsOf('updateApp')[0]?.request['settings'];
    expect(settings).toMatchObject({ name: 'Two', redirectUris: [], scopes: [] });
    expect(settings).not.toHaveProperty('description');
  });

  test('rotate the secret and set the status', async () => {
    gateway.backends.answer({
      rotateSecret: () => ({ clientSecret: 'new', secretLast4: 'last', rotatedAt: time }),
      setAppStatus: ({ status }) => ({ status, statusChangedAt: time }),
    });
    expect((await call('POST', '/developer/apps/app_1/rotate-secret')).body).toEqual({
      data: {
        clientId: 'app_1',
        clientSecret: 'new',
        secretLast4: 'last',
        rotatedAt: INSTANT,
      },
    });
    const kept = await call('POST', '/developer/apps/app_1/rotate-secret', { overlapSeconds: 60 });
    expect(kept.body.errors).toEqual([{ parameter: 'overlapSeconds', message: 'unknown field' }]);
    expect((await call('POST', '/developer/apps/app_1/status', { status: 'suspended' })).body).toEqual({
      data: { clientId: 'app_1', status: 'suspended', statusChangedAt: INSTANT },
    });
  });

  test('see the usage of an app in pages', async () => {
    const refusals = [{ status: 429, count: 1 }];
    const counts = { released: 2, refused: 1, refusals, withoutKey: 1 };
    const row = (endpoint: string) => ({ date: '2026-03-01', endpoint, ...counts });
    gateway.backends.answer({ getAppUsage: () => ({ usage: ['a', 'b', 'c'].map(row) }) });
    expect((await call('GET', '/developer/apps/app_1/usage?pageSize=2&page=2')).body).toEqual({
      data: [row('c')],
      pagination: { page: 2, pageSize: 2, total: 3, totalPages: 2 },
    });
    expect((await call('GET', '/developer/apps/app_1/usage?from=2026-02-30')).status).toBe(400);
  });

  test.each<[string, string, unknown, string]>([
    ['POST', '/developer/apps', { redirectUris: ['x'] }, 'name'],
    ['POST', '/developer/apps', { name: 'One', redirectUris: [] }, 'redirectUris'],
    ['POST', '/developer/apps', { name: 1, redirectUris: ['x'] }, 'name'],
    ['POST', '/developer/apps', { name: 'One', redirectUris: ['x', 2] }, 'redirectUris.1'],
    ['POST', '/developer/apps', { name: 'One', redirectUris: ['x'], scopes: [] }, 'scopes'],
    ['POST', '/developer/apps', { name: 'One', redirectUris: ['x'], redirectUri: 'y' }, 'redirectUri'],
    ['POST', '/developer/apps', { name: 'One', redirectUris: ['x'], environment: 'sandbox' }, 'environment'],
    ['POST', '/developer/apps', '{"name"', 'body'],
    ['POST', '/developer/apps', '[]', 'body'],
    ['PATCH', '/developer/apps/app_1', { requirePkce: 'yes' }, 'requirePkce'],
    ['PATCH', '/developer/apps/app_1', { jwks: '{"keys":[]}' }, 'jwks'],
    ['PATCH', '/developer/apps/app_1', { jwksUri: 1 }, 'jwksUri'],
    ['PATCH', '/developer/apps/app_1', { securityProfile: 'fapi2' }, 'securityProfile'],
    ['POST', '/developer/apps/app_1/status', { status: 'paused' }, 'status'],
    ['POST', '/developer/apps/app_1/status', {}, 'status'],
    ['GET', '/developer/apps?status=active', undefined, 'status'],
  ])('%s %s with %j reports a violation of %s', async (method, path, sent, parameter) => {
    const { status, body } = await call(method, path, sent);
    expect([status, body.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(body.errors.map((error: { parameter: string }) => error.parameter)).toEqual([parameter]);
  });
});
