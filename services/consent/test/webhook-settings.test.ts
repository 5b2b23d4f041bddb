import { expect, test } from '@jest/globals';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import { readEnvironment } from '../src/config.ts';
import { parseEndpointUrl } from '../src/webhooks/endpoints.ts';

test.each([
  ['ftp://pulse.test/', 'https://'],
  ['http://pulse.test/', 'https://'],
  ['https://user:password@pulse.test/', 'user name'],
  ['https://pulse.test/#part', 'fragment'],
  ['pulse.test', 'must be a URL'],
  [`https://pulse.test/${'a'.repeat(2_100)}`, 'must be a URL'],
])('the URL %.40s is refused', (url, message) => {
  expect(() => parseEndpointUrl(url, { allowLoopback: false })).toThrow(message);
});

const keys = createServiceKeys(['gateway', 'authorization', 'health-data', 'consent']);

/** The settings that have no default. */
const REQUIRED = {
  SERVICE_PRIVATE_KEY: keys.pem('consent'),
  SERVICE_PUBLIC_KEYS: keys.jwks,
  SESSION_AUDIENCE: 'phds',
  SESSION_JWKS: keys.jwks,
  DATABASE_URL: 'postgresql://consent@localhost/phds',
  RECEIPT_PRIVATE_KEY: keys.pem('consent'),
  WEBHOOK_KEY: Buffer.alloc(32).toString('base64'),
};
const read = (env: Record<string, string>) => () =>
  readEnvironment({ ...REQUIRED, EGRESS_ALLOW_LOOPBACK: 'true', ...env });

test.each([
  [{ SESSION_ISSUER: 'https://id.example.org' }],
  [{ SESSION_ISSUER: 'http://localhost:9000', HOST: '0.0.0.0' }],
])('webhooks to this machine are refused at the start in production: %j', (env) => {
  expect(read(env)).toThrow('EGRESS_ALLOW_LOOPBACK: must be false');
});

test('webhooks to this machine are allowed in a local stack', () => {
  expect(read({ SESSION_ISSUER: 'http://127.0.0.1:9000' })).not.toThrow();
});

test.each(['proxy.test:3128', 'socks5://proxy.test:1080', 'http://user:hidden@proxy.test/path'])(
  'the proxy %s is refused at the start, without a password in the message',
  (EGRESS_PROXY) => {
    const start = read({ EGRESS_PROXY, SESSION_ISSUER: 'http://127.0.0.1:9000' });
    expect(start).toThrow('EGRESS_PROXY: must be http:// or https://');
    expect(start).not.toThrow('hidden');
  },
);
