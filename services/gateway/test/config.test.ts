import { describe, expect, test } from '@jest/globals';
import { ConfigError } from '@phds/service-kit/settings/config';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import { readEnvironment } from '../src/config.ts';
import { DEFAULT_LIMITS } from '../src/limits/limit-table.ts';

const keys = createServiceKeys(['gateway', 'authorization', 'health-data', 'consent']);

const REQUIRED = {
  SERVICE_PRIVATE_KEY: keys.pem('gateway'),
  SERVICE_PUBLIC_KEYS: keys.jwks,
  SESSION_ISSUER: 'https://id.test',
  SESSION_AUDIENCE: 'phds',
  SESSION_JWKS: keys.jwks,
};

describe('LIMITS', () => {
  const read = (limits: string) => readEnvironment({ ...REQUIRED, LIMITS: limits }).LIMITS;

  test('changes the limits that it names, and that of a person over all apps with that of one app', () => {
    expect(read('')).toEqual(DEFAULT_LIMITS);
    expect(read('user=7, app-user=3000,user=8')).toEqual({
      ...DEFAULT_LIMITS,
      user: 8,
      'app-user': 3_000,
      'user-all-apps': 9_000,
    });
    expect(read('app-user=3000,user-all-apps=3000')['user-all-apps']).toBe(3_000);
  });

  test.each([
    ['app-user=3000,user-all-apps=2999', 'user-all-apps must not be less than app-user (3000)'],
    ['user-all-apps=299', 'user-all-apps must not be less than app-user (300)'],
    ['user-costly=29', 'user-costly must be at least 30'],
    ['user=0', 'must be limits like app-user=600,sign-ins=1000, of app-user, user-all-apps,'],
    ['user=many', 'must be limits like'],
    ['everybody=3', 'must be limits like'],
    ['600', 'must be limits like'],
  ])('stops start-up when it is %s', (limits, reason) => {
    expect(() => read(limits)).toThrow(`LIMITS: ${reason}`);
  });
});

test.each([
  'http://help.test',
  'help@clinic.test',
  'mailto:help',
  'mailto:help@clinic.test?body=x',
  'https://a b',
])('the address of support %s stops start-up', (address) => {
  expect(() => readEnvironment({ ...REQUIRED, SUPPORT_URL: address })).toThrow(
    'SUPPORT_URL: must be https://… or mailto:…',
  );
});

test('what is stated of the deployment is text, and the privacy notice an address', () => {
  const read = (DEPLOYMENT: string) => readEnvironment({ ...REQUIRED, DEPLOYMENT }).DEPLOYMENT;
  const stated = { operator: 'Clinic', privacyNotice: 'https://clinic.test/privacy' };
  expect(read(JSON.stringify(stated))).toEqual(stated);
  expect(read('')).toEqual({});
  const allowed = 'DEPLOYMENT: must be JSON of operator, contact';
  for (const [wrong, reason] of [
    ['Clinic', allowed],
    ['{"owner":"Clinic"}', allowed],
    ['{"operator":1}', 'DEPLOYMENT.operator: must be a text'],
    ['{"terms":"a\\nb"}', 'DEPLOYMENT.terms: must be one line'],
    ['{"privacyNotice":"javascript:x"}', 'DEPLOYMENT.privacyNotice: must be https://…'],
  ] as const)
    expect(() => read(wrong)).toThrow(reason);
});

test('deadlines are multiplied, and nothing else is', () => {
  const [once, thrice] = ['1', '3'].map((DEADLINE_FACTOR) =>
    readEnvironment({ ...REQUIRED, DEADLINE_FACTOR }),
  );
  expect(thrice).toEqual({
    ...once,
    DEADLINE_FACTOR: 3,
    AUTHORIZATION_DEADLINE_MS: 6_000,
    CONSENT_DEADLINE_MS: 6_000,
    HEALTH_DATA_DEADLINE_MS: 9_000,
    OIDC_DEADLINE_MS: 15_000,
  });
});

describe('the OpenID provider', () => {
  const PROVIDER = {
    OIDC_ISSUER: 'https://id.test',
    OIDC_CLIENT_ID: 'phds',
    OIDC_CLIENT_SECRET: 'secret',
    SIGN_IN_KEY: Buffer.alloc(32).toString('base64'),
  };
  const read = (env: Record<string, string>) => readEnvironment({ ...REQUIRED, ...env }).openid;

  test('is optional, and a complete one is accepted', () => {
    expect(read({})).toBeNull();
    expect(read(PROVIDER)).toMatchObject({ issuer: 'https://id.test', clientId: 'phds', scope: 'openid' });
    const audiences = { ...PROVIDER, OIDC_CLIENT_ID: 'web', SESSION_AUDIENCE: 'phds,web' };
    expect(read(audiences)).toMatchObject({ clientId: 'web' });
  });

  test.each(['http://localhost:8090', 'http://id.localhost:8090', 'http://127.0.0.1:1', 'http://[::1]:1'])(
    'may be reached by plain http on this machine: %s',
    (issuer) => {
      expect(read({ ...PROVIDER, OIDC_ISSUER: issuer, SESSION_ISSUER: issuer })).toMatchObject({ issuer });
    },
  );

  test.each([
    ['OIDC_ISSUER', { OIDC_ISSUER: 'https://id.test/', SESSION_ISSUER: 'https://id.test' }],
    ['OIDC_ISSUER', { OIDC_ISSUER: 'http://id.test', SESSION_ISSUER: 'http://id.test' }],
    [
      'OIDC_ISSUER',
      { OIDC_ISSUER: 'http://localhost.evil.test', SESSION_ISSUER: 'http://localhost.evil.test' },
    ],
    ['OIDC_ISSUER', { OIDC_ISSUER: 'id.test', SESSION_ISSUER: 'id.test' }],
    ['OIDC_ISSUER', { OIDC_ISSUER: 'https://id.test?x', SESSION_ISSUER: 'https://id.test?x' }],
    ['OIDC_CLIENT_ID', { OIDC_CLIENT_ID: 'another' }],
    ['OIDC_CLIENT_ID', { OIDC_CLIENT_ID: '' }],
    ['OIDC_CLIENT_SECRET', { OIDC_CLIENT_SECRET: '' }],
    ['OIDC_CLIENT_SECRET', { OIDC_ISSUER: '' }],
    ['SIGN_IN_KEY', { SIGN_IN_KEY: '' }],
    ['SIGN_IN_KEY', { SIGN_IN_KEY: Buffer.alloc(31).toString('base64') }],
    ['OIDC_SCOPE', { OIDC_SCOPE: 'profile' }],
    [
      /SANDBOX: must be false, unless SESSION_ISSUER \(and OIDC_ISSUER\)/,
      { SANDBOX: 'true', OIDC_ISSUER: 'https://id.example', SESSION_ISSUER: 'https://id.example' },
    ],
  ])('stops start-up when %s is wrong: %j', (name, env) => {
    expect(() => read({ ...PROVIDER, ...env })).toThrow(ConfigError);
    expect(() => read({ ...PROVIDER, ...env })).toThrow(name);
  });
});
