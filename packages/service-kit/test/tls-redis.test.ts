import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithCertificates } from '@phds/test-kit/certificates';
import { eventually } from '@phds/test-kit/conditions';
import {
  describeWithRedisProgram,
  startTlsRedis,
  type TlsFilesOnDisk,
  type TlsRedis,
  writeTlsFiles,
} from '@phds/test-kit/tls-servers';
import { createAuthority } from '../src/keys/authority.ts';
import { openRedis, type RedisConnectionOptions, subscribeRedis } from '../src/redis.ts';

const PATIENT = { commandTimeoutMs: 30_000 };

describeWithRedisProgram('Redis with TLS', () => {
  describeWithCertificates('that asks its clients for a certificate', () => {
    const authority = createAuthority();
    const client = authority.issue('DNS:client');
    let files: TlsFilesOnDisk;
    let redis: TlsRedis;

    beforeAll(async () => {
      files = await writeTlsFiles(authority, authority.issue('DNS:localhost'));
      redis = await startTlsRedis(files);
    });
    afterAll(async () => {
      await redis?.[Symbol.asyncDispose]();
      await files?.[Symbol.asyncDispose]();
    });

    /** What the first attempt to connect leads to: `ready`, or the error. */
    async function firstOutcome(url: string, tls: RedisConnectionOptions['tls']): Promise<string> {
      const { promise, resolve } = Promise.withResolvers<string>();
      const warn = ({ err }: { err: Error & { code?: string } }) => resolve(err.code ?? err.message);
      const log = { info: () => undefined, warn: warn as never };
      await using connection = openRedis(url, log, { ...PATIENT, ...(tls === undefined ? {} : { tls }) });
      connection.client.once('ready', () => resolve('ready')).once('close', () => resolve('closed'));
      return await promise;
    }

    const secure = (host = 'localhost') => `rediss://${host}:${redis.port}`;

    test('carries commands and messages of a client that trusts the authority and has a certificate', async () => {
      const tls = { ca: authority.ca, ...client };
      const log = { info: () => undefined, warn: () => undefined };
      const received: string[] = [];
      let isSubscribed = false;
      const subscription = {
        channels: ['channel'],
        onMessage: (_: string, payload: Buffer) => void received.push(payload.toString()),
        onSubscribed: () => {
          isSubscribed = true;
        },
      };
      await using connection = openRedis(secure(), log, { ...PATIENT, tls });
      await using _subscription = subscribeRedis(secure(), subscription, log, { tls });
      await eventually(() => connection.isReady() && isSubscribed);
      await connection.client.publish('channel', 'message');
      await eventually(() => received.length > 0);
      expect(received).toEqual(['message']);
    });

    test.each([
      ['without the authority', 'SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY', () => ({ ...client })],
      [
        'with another authority',
        'UNABLE_TO_VERIFY|SELF_SIGNED|CERT',
        () => ({ ca: createAuthority().ca, ...client }),
      ],
      [
        'without a certificate of its own',
        'ALERT|certificate|ECONNRESET|EPIPE|closed',
        () => ({ ca: authority.ca }),
      ],
    ])('is not used by a client %s', async (_, outcome, tls) => {
      expect(await firstOutcome(secure(), tls())).toMatch(new RegExp(outcome, 'i'));
    });

    test('follows a renewed certificate of the server without a restart', async () => {
      const tls = { ca: authority.ca, ...client };
      const log = { info: () => undefined, warn: () => undefined };
      await using admin = openRedis(secure(), log, { ...PATIENT, tls });
      await eventually(() => admin.isReady());
      const renew = async (name: string) => {
        await files.replace(authority.issue(name));
        await admin.client.config('SET', 'tls-cert-file', files.cert, 'tls-key-file', files.key);
      };
      await renew('DNS:redis.example');
      expect(await firstOutcome(secure(), tls)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
      await renew('DNS:localhost');
      expect(await firstOutcome(secure(), tls)).toBe('ready');
    });

    test('refuses a client without TLS', async () => {
      expect(await firstOutcome(`redis://localhost:${redis.port}`, undefined)).not.toBe('ready');
    });
  });
});
