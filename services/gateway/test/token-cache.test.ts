import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { EvictionSchema } from '@phds/contracts/phds/events/v1/eviction_pb';
import { AppError, unauthorized } from '@phds/service-kit/errors';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { applyEviction } from '../src/cache/access-tokens.ts';
import { bearer, documentOf, liveToken, shareTestGateway } from './test-gateway.ts';

describe('the token cache', () => {
  const silent = createLogger({ service: 'gateway', level: 'silent' });
  const noReadings = () => documentOf({ data: [] });
  const gateway = shareTestGateway();
  let token: string;

  beforeEach(() => {
    gateway.backends.answer({ introspect: () => liveToken(), read: noReadings });
    token = newSecret('access_token');
  });

  const read = async (presented = token) =>
    (await gateway.fetch('/api/v1/health-data/heart', { headers: bearer(presented) })).status;
  const introspections = () => gateway.backends.callsOf('introspect').length;
  const evict = (subject: Parameters<typeof create<typeof EvictionSchema>>[1]) =>
    applyEviction(
      toBinary(EvictionSchema, create(EvictionSchema, subject)),
      gateway.service.accessTokens,
      silent,
    );

  describe('the facts about a live token', () => {
    test("are requested once, by the token's hash only", async () => {
      expect([await read(), await read(), await read()]).toEqual([200, 200, 200]);
      expect(introspections()).toBe(1);
      const tokenHash = gateway.backends.callsOf('introspect')[0]?.request['tokenHash'];
      expect(Buffer.from(tokenHash as Uint8Array)).toEqual(sha256(token));
    });

    test('are requested once for concurrent requests', async () => {
      const gate = Promise.withResolvers<void>();
      gateway.backends.answer({
        introspect: async () => {
          await gate.promise;
          return liveToken();
        },
        read: noReadings,
      });
      const reads = Array.from({ length: 20 }, () => read());
      gate.resolve();
      expect(new Set(await Promise.all(reads))).toEqual(new Set([200]));
      expect(introspections()).toBeLessThanOrEqual(2);
    });

    test('expire before the 60-second assertion does', async () => {
      await read();
      gateway.clock.advance(25_000);
      await read();
      expect(introspections()).toBe(1);
      gateway.clock.advance(25_000);
      await read();
      expect(introspections()).toBe(2);
    });

    test('expire with the token', async () => {
      const expiresAt = timestampFromDate(new Date(gateway.clock.now().getTime() + 10_000));
      gateway.backends.answer({
        introspect: () => liveToken({ principal: { expiresAt } }),
        read: noReadings,
      });
      expect(await read()).toBe(200);
      gateway.clock.advance(10_000);
      gateway.backends.answer({ introspect: () => ({ status: TokenStatus.EXPIRED }) });
      expect(await read()).toBe(401);
      expect(introspections()).toBe(2);
    });

    test.each([TokenStatus.DEAD, TokenStatus.EXPIRED, TokenStatus.UNSPECIFIED])(
      'are not cached for status %i: each request asks again',
      async (status) => {
        gateway.backends.answer({ introspect: () => ({ status }) });
        expect([await read(), await read()]).toEqual([401, 401]);
        expect(introspections()).toBe(2);
      },
    );

    test.each(['unauthorized', 'token_expired', 'consent_required'] as const)(
      'are dropped when the record step answers %s',
      async (reason) => {
        gateway.backends.answer({
          introspect: () => liveToken(),
          read: () => {
            throw reason === 'unauthorized' ? unauthorized() : new AppError(reason);
          },
        });
        await read();
        expect(gateway.service.accessTokens.size).toBe(0);
      },
    );

    test('are always renewed before CONSENT_REQUIRED is returned', async () => {
      gateway.backends.answer({
        introspect: () => liveToken({ grant: { scopes: ['read:mood'] } }),
        read: noReadings,
      });
      expect(await read()).toBe(403);
      gateway.backends.answer({ introspect: () => liveToken(), read: noReadings });
      expect(await read()).toBe(200);
    });
  });

  describe('an eviction', () => {
    const owned = (clientId: string, familyId: string, grantId: string) => () =>
      liveToken({ principal: { clientId, familyId, grantId } });

    test.each<[string, () => void, boolean]>([
      ['its token', () => evict({ subject: { case: 'tokenHash', value: sha256(token) } }), true],
      ['its grant', () => evict({ subject: { case: 'grantId', value: 'grt_a' } }), true],
      ['another token', () => evict({ subject: { case: 'tokenHash', value: sha256('x') } }), false],
      ['another grant', () => evict({ subject: { case: 'grantId', value: 'grt_b' } }), false],
      ['nothing at all', () => evict({}), true],
    ])('of %s', async (_, apply, forgotten) => {
      gateway.backends.answer({ introspect: owned('app_a', 'fam_a', 'grt_a'), read: noReadings });
      await read();
      apply();
      await read();
      expect(introspections()).toBe(forgotten ? 2 : 1);
    });

    test('that is unreadable clears the whole cache', async () => {
      await read();
      applyEviction(Buffer.from([0xff, 0xff, 0xff]), gateway.service.accessTokens, silent);
      expect(gateway.service.accessTokens.size).toBe(0);
    });

    test('during a call to authorization keeps that answer out of the cache and away from later requests', async () => {
      const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      gateway.backends.answer({
        introspect: async () => {
          asked.resolve();
          await gate.promise;
          return liveToken();
        },
        read: noReadings,
      });
      const first = read();
      await asked.promise;
      evict({ subject: { case: 'grantId', value: 'grt_one' } });
      gateway.backends.answer({ introspect: () => liveToken({ grant: { status: GrantStatus.REVOKED } }) });
      expect(await read()).toBe(403);
      gateway.backends.answer({ introspect: () => liveToken(), read: noReadings });
      gateway.service.accessTokens.clear();
      gate.resolve();
      expect(await first).toBe(200);
      expect(gateway.service.accessTokens.size).toBe(0);
    });
  });
});
