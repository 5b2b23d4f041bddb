import { describe, expect, test } from '@jest/globals';
import { ConfigError } from '@phds/service-kit/config';
import { readEnvironment } from '../src/config.ts';

const REQUIRED = {
  SERVICE_PRIVATE_KEY: 'key',
  SERVICE_PUBLIC_KEYS: '{}',
  SESSION_ISSUER: 'https://id.test',
  SESSION_AUDIENCE: 'phds',
  SESSION_JWKS: '{"keys":[]}',
};

describe("a person's limit over all apps", () => {
  const read = (env: Record<string, string>) =>
    readEnvironment({ ...REQUIRED, ...env }).LIMIT_USER_ALL_APPS_PER_MINUTE;

  test('defaults to three times the limit of one app', () => {
    expect(read({})).toBe(900);
    expect(read({ LIMIT_APP_USER_PER_MINUTE: '3000' })).toBe(9_000);
    expect(read({ LIMIT_APP_USER_PER_MINUTE: '3000', LIMIT_USER_ALL_APPS_PER_MINUTE: '3000' })).toBe(3_000);
  });

  test.each([
    { LIMIT_APP_USER_PER_MINUTE: '3000', LIMIT_USER_ALL_APPS_PER_MINUTE: '2999' },
    { LIMIT_USER_ALL_APPS_PER_MINUTE: '299' },
    { LIMIT_USER_ALL_APPS_PER_MINUTE: '0' },
  ])('stops start-up when it is less than the limit of one app: %j', (env) => {
    expect(() => read(env)).toThrow(ConfigError);
    expect(() => read(env)).toThrow('LIMIT_USER_ALL_APPS_PER_MINUTE');
  });
});
