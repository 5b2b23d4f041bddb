import { expect, test } from '@jest/globals';
import { readEnvironment } from '../src/config.ts';

const REQUIRED = {
  SERVICE_PRIVATE_KEY: 'key',
  SERVICE_PUBLIC_KEYS: '{}',
  SESSION_AUDIENCE: 'phds',
  SESSION_JWKS: '{"keys":[]}',
  DATABASE_URL: 'postgresql://consent@localhost/phds',
  RECEIPT_PRIVATE_KEY: 'key',
  WEBHOOK_KEY: Buffer.alloc(32).toString('base64'),
};
const read = (env: Record<string, string>) => () =>
  readEnvironment({ ...REQUIRED, WEBHOOK_ALLOW_LOOPBACK: 'true', ...env });

test.each([
  [{ SESSION_ISSUER: 'https://id.example.org' }],
  [{ SESSION_ISSUER: 'http://localhost:9000', HOST: '0.0.0.0' }],
])('webhooks to this machine are refused at the start in production: %j', (env) => {
  expect(read(env)).toThrow('WEBHOOK_ALLOW_LOOPBACK: must be false');
});

test('webhooks to this machine are allowed in a local stack', () => {
  expect(read({ SESSION_ISSUER: 'http://127.0.0.1:9000' })).not.toThrow();
});
