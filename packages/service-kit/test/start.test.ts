import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { describeWithCertificates } from '@phds/test-kit/certificates';
import { eventually } from '@phds/test-kit/conditions';
import { createAuthority } from '../src/keys/authority.ts';
import { logFailedStart } from '../src/lifecycle.ts';
import { refuseUnsafeNode } from '../src/node-version.ts';
import { watchReadiness } from '../src/probes.ts';
import { toRedisTls } from '../src/redis.ts';
import { toTlsFiles } from '../src/rpc/tls.ts';
import { ConfigError, type ConfigErrorOptions } from '../src/settings/config.ts';
import { createLogger } from '../src/telemetry/log.ts';

function openLog() {
  const lines: string[] = [];
  const log = createLogger({ service: 'consent', destination: { write: (line) => void lines.push(line) } });
  return { log, logged: () => lines.map((line) => JSON.parse(line)) };
}

const wrongPassword = (options: ConfigErrorOptions = {}) =>
  new ConfigError([{ setting: 'DATABASE_URL', reason: 'the database refuses the password' }], options);

test.each(['24.14.0', '24.5.0', '25.9.0'])(
  'Node %s, which a header of a request can end, is refused',
  (version) => {
    expect(() => refuseUnsafeNode(version)).toThrow(
      `Node ${version} cannot be used: 24.14.1 or a later 24 is needed, or 26`,
    );
  },
);

test.each(['24.14.1', '24.21.0', '26.0.0', process.versions.node])('Node %s can be used', (version) => {
  expect(() => refuseUnsafeNode(version)).not.toThrow();
});

test('settings that cannot be used are one line of the log, with the reason and the page of each', () => {
  const { log, logged } = openLog();
  const problems = [
    { setting: 'PORT', reason: 'must be a port' },
    { setting: 'OIDC_ISSUER', reason: 'must be set' },
  ];
  logFailedStart(new ConfigError(problems), log);
  expect(logged()).toEqual([
    {
      level: 'fatal',
      time: expect.any(String),
      service: 'consent',
      problems: [
        { ...problems[0], page: 'docs/operations/settings.md' },
        { ...problems[1], page: 'docs/operations/signing-in.md' },
      ],
      msg: 'the configuration is not usable: PORT: must be a port; OIDC_ISSUER: must be set',
    },
  ]);
});

test('ready is logged when the service is, and before it once for each reason why it is not', async () => {
  const { log, logged } = openLog();
  let reason: Error | null = wrongPassword({ mayHeal: true, cause: new Error('SQLSTATE') });
  let checks = 0;
  const check = async () => {
    checks += 1;
    if (reason !== null) throw reason;
    return true;
  };
  const outcomes: boolean[] = [];
  const onChecked = (isReady: boolean) => void outcomes.push(isReady);
  const watch = watchReadiness({ check, log, ports: { rpcPort: 7002 }, intervalMs: 1, onChecked });
  const next = () => {
    const before = checks;
    return eventually(() => checks > before + 1);
  };
  await watch.first;
  await next();
  reason = new Error('connection refused');
  await next();
  reason = null;
  await next();
  watch.stop();
  expect(outcomes[0]).toBe(false);
  expect(outcomes.at(-1)).toBe(true);
  expect(logged()).toMatchObject([
    {
      level: 'warn',
      msg: 'not ready',
      rpcPort: 7002,
      problems: [{ setting: 'DATABASE_URL' }],
      err: { message: 'SQLSTATE' },
    },
    { level: 'warn', msg: 'not ready', rpcPort: 7002, err: { message: 'connection refused' } },
    { level: 'info', msg: 'ready', rpcPort: 7002 },
  ]);
});

test('a service whose settings only a change can heal does not start', async () => {
  const { log } = openLog();
  const error = wrongPassword();
  const watch = watchReadiness({ check: () => Promise.reject(error), log, ports: {} });
  await expect(watch.first).rejects.toBe(error);
  watch.stop();
});

describeWithCertificates('TLS between services', () => {
  test('is not configured by a part of its settings, or by a key of another certificate', () => {
    const authority = createAuthority();
    const [{ cert, key }, other] = [authority.issue('DNS:consent'), authority.issue('DNS:gateway')];
    const files = { TLS_CA: authority.ca, TLS_CERT: cert, TLS_KEY: key };
    expect(toTlsFiles(files)).toEqual({ ca: authority.ca, cert, key });
    expect(() => toTlsFiles({ TLS_CERT: cert })).toThrow(/TLS_CA: must be set.*TLS_KEY: must be set/s);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const ofAnotherKind = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    for (const TLS_KEY of [other.key, ofAnotherKind]) {
      expect(() => toTlsFiles({ ...files, TLS_KEY })).toThrow('TLS_CERT: ');
      const redis = { REDIS_TLS_CA: authority.ca, REDIS_TLS_CERT: cert, REDIS_TLS_KEY: TLS_KEY };
      expect(() => toRedisTls({ REDIS_URL: 'rediss://localhost', ...redis })).toThrow('REDIS_TLS_CERT: ');
    }
  });
});
