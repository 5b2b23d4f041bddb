import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import { z } from 'zod';
import {
  address,
  ConfigError,
  connectionString,
  durationMs,
  integer,
  list,
  port,
  privateKey,
  publicKeys,
  readConfig,
} from '../src/settings/config.ts';
import { callerSettings, redisSettings, requireRedisTls, sessionSettings } from '../src/settings/settings.ts';

const schema = z.object({
  PORT: port(8080),
  SIZE: integer(5, { min: 1, max: 10 }),
  PEER: address('localhost:1'),
  SECRET: z.string().min(8),
});

function problemsOf(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(schema, env);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the configuration was accepted');
}

function expectConfigError(read: () => unknown): ConfigError {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('readConfig', () => {
  test('parses given settings, fills in defaults, and freezes the result', () => {
    const config = readConfig(schema, { SECRET: 'longenough', PORT: '1' });
    expect(config).toEqual({ PORT: 1, SIZE: 5, PEER: 'localhost:1', SECRET: 'longenough' });
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('treats an empty setting as missing', () => {
    expect(readConfig(schema, { SECRET: 'longenough', SIZE: '' }).SIZE).toBe(5);
  });

  test('reads KEY_FILE, trimmed', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'config-')), 'secret');
    writeFileSync(file, 'from-a-file\n');
    expect(readConfig(schema, { SECRET_FILE: file }).SECRET).toBe('from-a-file');
  });

  test('names every invalid setting at once without showing a value', () => {
    const message = problemsOf({ SECRET: 'short', SIZE: '99', PORT: 'http', PEER: 'nowhere' });
    for (const key of ['SECRET', 'SIZE', 'PORT', 'PEER']) expect(message).toContain(`${key}:`);
    for (const value of ['short', '99', 'http', 'nowhere']) expect(message).not.toContain(value);
  });

  test.each(['0', '-1', '1.5', '2147483648', 'soon'])('refuses a duration of %s', (PAUSE_MS) => {
    const timed = z.object({ PAUSE_MS: durationMs(1_000) });
    expect(() => readConfig(timed, { PAUSE_MS })).toThrow(
      'PAUSE_MS: must be a whole number of milliseconds from 1 to 2147483647',
    );
    expect(readConfig(timed, { PAUSE_MS: '2147483647' }).PAUSE_MS).toBe(2_147_483_647);
    expect(readConfig(timed, {}).PAUSE_MS).toBe(1_000);
  });

  test('reads a comma-separated list, with and without spaces, and refuses a list with a gap', () => {
    const listed = z.object({ NAMES: list() });
    expect(readConfig(listed, { NAMES: 'phds' }).NAMES).toEqual(['phds']);
    expect(readConfig(listed, { NAMES: 'phds, portal' }).NAMES).toEqual(['phds', 'portal']);
    for (const NAMES of ['phds,', ',phds', 'phds,,portal', ' , ']) {
      expect(() => readConfig(listed, { NAMES })).toThrow(
        'NAMES: must be a comma-separated list without gaps',
      );
    }
    expect(() => readConfig(listed, {})).toThrow('NAMES');
  });

  test.each(['https://id.example/keys', 'http://127.0.0.1:8090/keys', '{"keys":[{}]}'])(
    'accepts %s as the source of session keys',
    (SESSION_JWKS) => {
      const env = { SESSION_ISSUER: 'https://id.example', SESSION_AUDIENCE: 'phds', SESSION_JWKS };
      expect(readConfig(z.object(sessionSettings), env)).toEqual({
        SESSION_ISSUER: 'https://id.example',
        SESSION_AUDIENCE: ['phds'],
        SESSION_USER_ID_CLAIM: 'sub',
        SESSION_JWKS,
      });
    },
  );

  test.each([
    'id.example/keys',
    'http://id.example/keys',
    'file:///keys.json',
    '{}',
    '{"keys":{}}',
    '{"keys":[]}',
    '{"keys":[',
    '[]',
  ])('refuses %s as the source of session keys', (SESSION_JWKS) => {
    expect(() => readConfig(z.object(sessionSettings), { SESSION_JWKS })).toThrow(
      'SESSION_JWKS: must be an https URL, an http URL on this machine, or a JWKS with keys',
    );
  });

  test('names a missing setting, and for each the page about it', () => {
    const names = ['DATABASE_URL', 'OIDC_ISSUER', 'PORT', 'SERVICE_PUBLIC_KEYS', 'TLS_KEY'];
    const required = z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
    const { problems } = expectConfigError(() => readConfig(required, {}));
    expect(problems.map(({ setting }) => setting)).toEqual(names);
    expect(new Set(problems.map(({ reason }) => reason))).toEqual(new Set(['must be set']));
    const pages = problems.map(({ page }) => page);
    expect(new Set(pages).size).toBe(names.length);
    for (const page of pages) {
      const [path = '', anchor] = page.split('#');
      const headings = readFileSync(join(import.meta.dirname, '../../..', path), 'utf8').match(/^#+ .*/gm);
      const anchors = headings?.map((line) => line.replace(/^#+ /, '').toLowerCase().replaceAll(' ', '-'));
      expect(anchor === undefined || anchors?.includes(anchor)).toBe(true);
    }
  });

  test('refuses keys that cannot be used, and a set without the key of somebody who is needed', () => {
    const keys = createServiceKeys(['gateway', 'operator']);
    const keyed = z.object({ OWN_KEY: privateKey(), PUBLIC_KEYS: publicKeys('gateway', 'consent') });
    const reasonsFor = (OWN_KEY: string, PUBLIC_KEYS: string) =>
      expectConfigError(() => readConfig(keyed, { OWN_KEY, PUBLIC_KEYS })).problems.map(
        ({ reason }) => reason,
      );
    const pem = keys.pem('gateway');
    expect(reasonsFor('secret', '{"keys":[]}')).toEqual([
      'must be an Ed25519 private key (PKCS #8 PEM)',
      'must have at least one key',
    ]);
    expect(reasonsFor(pem, keys.jwks)).toEqual(['has no key of consent']);
    for (const text of ['{}', '[]', 'jwks']) expect(reasonsFor(pem, text)).toEqual(['must be a JWKS']);
    const all = createServiceKeys(['gateway', 'consent']).jwks;
    expect(readConfig(keyed, { OWN_KEY: pem, PUBLIC_KEYS: all })).toEqual({ OWN_KEY: pem, PUBLIC_KEYS: all });
  });

  test('refuses a key of an operator without a role', () => {
    const { jwks } = createServiceKeys(['gateway', 'operator:ada']);
    const SERVICE_PUBLIC_KEYS = jwks.replace(/"roles":\[[^\]]*\]/, '"roles":[]');
    const { problems } = expectConfigError(() =>
      readConfig(z.object(callerSettings('gateway')), { SERVICE_PUBLIC_KEYS }),
    );
    expect(problems).toMatchObject([
      { setting: 'SERVICE_PUBLIC_KEYS', reason: expect.stringContaining('"roles"') },
    ]);
  });

  test.each(['mysql://db/phds', 'db:5432/phds', 'postgresql://db/phds?options=-c%20fsync%3Doff'])(
    'refuses %s as a connection string',
    (DATABASE_URL) => {
      expectConfigError(() => readConfig(z.object({ DATABASE_URL: connectionString() }), { DATABASE_URL }));
    },
  );

  test('refuses a setting given twice, and a file that does not exist', () => {
    expect(problemsOf({ SECRET: 'longenough', SECRET_FILE: '/nowhere' })).toContain('not both');
    expect(problemsOf({ SECRET_FILE: '/nowhere/secret' })).toContain('SECRET_FILE: the file cannot be read');
  });
});

describe('TLS to Redis', () => {
  const redis = z.object(redisSettings).superRefine(requireRedisTls);
  const secure = { REDIS_URL: 'rediss://redis.example:6379' };

  test.each([
    [{}],
    [{ REDIS_URL: 'redis://redis.example' }],
    [secure],
    [{ ...secure, REDIS_TLS_CA: 'ca' }],
    [{ ...secure, REDIS_TLS_CERT: 'cert', REDIS_TLS_KEY: 'key' }],
  ])('can be configured as %j', (env) => {
    expect(readConfig(redis, env)).toEqual(env);
  });

  test.each([
    [{ REDIS_URL: 'redis://redis.example', REDIS_TLS_CA: 'ca' }, 'REDIS_URL: must start with rediss://'],
    [{ REDIS_TLS_CA: 'ca' }, 'REDIS_URL: must start with rediss://'],
    [{ ...secure, REDIS_TLS_CERT: 'cert' }, 'REDIS_TLS_KEY: must be set'],
    [{ ...secure, REDIS_TLS_KEY: 'key' }, 'REDIS_TLS_CERT: must be set'],
  ])('is not configured by %j', (env, problem) => {
    expect(() => readConfig(redis, env)).toThrow(problem);
  });
});
