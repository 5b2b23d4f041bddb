import { expect, test } from '@jest/globals';
import { AUTHORIZATION_CODE_MAX_SECONDS } from '@phds/catalog/lifetimes';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import { readEnvironment } from '../src/config.ts';

const keys = createServiceKeys(['gateway', 'authorization', 'health-data', 'consent']);

const required = {
  SERVICE_PRIVATE_KEY: keys.pem('authorization'),
  SERVICE_PUBLIC_KEYS: keys.jwks,
  DATABASE_URL: 'postgres://localhost/phds',
  SESSION_ISSUER: 'https://id.test',
  SESSION_AUDIENCE: 'phds',
  SESSION_JWKS: keys.jwks,
  ISSUER: 'https://phds.test',
  DERIVATION_KEY: Buffer.alloc(32, 7).toString('base64'),
  ASSERTION_PRIVATE_KEY: keys.pem('authorization'),
};

test('the defaults are the published ones', () => {
  expect(readEnvironment(required)).toMatchObject({
    RPC_PORT: 7001,
    PROBE_PORT: 7101,
    AUTHORIZATION_CODE_SECONDS: 300,
    MAX_APPS_PER_DEVELOPER: 200,
    CONSENT_DEADLINE_MS: 1500,
    DATABASE_CONNECT_TIMEOUT_MS: 2000,
  });
});

test('developers are listed and apps approved unless the settings say otherwise; a claim has to be named', () => {
  expect(readEnvironment(required)).toMatchObject({ DEVELOPERS: 'listed', APP_APPROVAL: 'required' });
  for (const DEVELOPERS of ['claim', 'everybody', '=developer', 'role=']) {
    expect(() => readEnvironment({ ...required, DEVELOPERS })).toThrow(/DEVELOPERS/);
  }
});

test('a code cannot live longer than the specification allows', () => {
  const longer = String(AUTHORIZATION_CODE_MAX_SECONDS + 1);
  expect(() => readEnvironment({ ...required, AUTHORIZATION_CODE_SECONDS: longer })).toThrow(
    /AUTHORIZATION_CODE_SECONDS/,
  );
});
