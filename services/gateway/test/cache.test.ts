import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { EvictionSchema } from '@phds/contracts/phds/events/v1/eviction_pb';
import { AppError, unauthorized } from '@phds/service-kit/errors';
import { createLogger } from '@phds/service-kit/log';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import { applyEviction } from '../src/cache/evictions.ts';
import { bearer, documentOf, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

const silent = createLogger({ service: 'gateway', level: 'silent' });
const listReadings = () => documentOf({ data: [] });
let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.service.cache.clear();
  gateway.backends.calls.length = 0;
  gateway.backends.answer({ introspect: () => liveToken(), listReadings });
  token = newSecret('access_token');
});

const read = async (presented = token) =>
  (await gateway.fetch('/api/v1/health-data/heart', { headers: bearer(presented) })).status;
const introspections = () => gateway.backends.callsOf('introspect').length;
const evict = (subject: Parameters<typeof create<typeof EvictionSchema>>[1]) =>
  applyEviction(toBinary(EvictionSchema, create(EvictionSchema, subject)), gateway.service.cache, silent);

describe('what is known about a live token', () => {
  test('is asked once and sent only as a hash', async () => {
    expect([await read(), await read(), await read()]).toEqual([200, 200, 200]);
    expect(introspections()).toBe(1);
    const tokenHash = gateway.backends.callsOf('introspect')[0]?.request['tokenHash'];
    expect(Buffer.from(tokenHash as Uint8Array)).toEqual(sha256(token));
  });

  test('is asked once for all who wait for it', async () => {
    const gate = Promise.withResolvers<void>();
    gateway.backends.answer({
      introspect: async () => {
        await gate.promise;
        return liveToken();
      },
      listReadings,
    });
    const reads = Array.from({ length: 20 }, () => read());
    gate.resolve();
    expect(new Set(await Promise.all(reads))).toEqual(new Set([200]));
    expect(introspections()).toBeLessThanOrEqual(2);
  });

  test('is forgotten before the 60 seconds of the assertion are over', async () => {
    await read();
    gateway.clock.advance(25_000);
    await read();
    expect(introspections()).toBe(1);
    gateway.clock.advance(25_000);
    await read();
    expect(introspections()).toBe(2);
  });

  test('is forgotten when the token expires', async () => {
    const expiresAt = timestampFromDate(new Date(gateway.clock.now().getTime() + 10_000));
    gateway.backends.answer({ introspect: () => liveToken({ principal: { expiresAt } }), listReadings });
    expect(await read()).toBe(200);
    gateway.clock.advance(10_000);
    gateway.backends.answer({ introspect: () => ({ status: TokenStatus.EXPIRED }) });
    expect(await read()).toBe(401);
    expect(introspections()).toBe(2);
  });

  test.each([TokenStatus.DEAD, TokenStatus.EXPIRED, TokenStatus.UNSPECIFIED])(
    'is nothing for status %i: it is asked each time',
    async (status) => {
      gateway.backends.answer({ introspect: () => ({ status }) });
      expect([await read(), await read()]).toEqual([401, 401]);
      expect(introspections()).toBe(2);
    },
  );

  test.each(['unauthorized', 'token_expired', 'consent_required'] as const)(
    'is forgotten when the record step says %s',
    async (reason) => {
      gateway.backends.answer({
        introspect: () => liveToken(),
        listReadings: () => {
          throw reason === 'unauthorized' ? unauthorized() : new AppError(reason);
        },
      });
      await read();
      expect(gateway.service.cache.size).toBe(0);
    },
  );

  test('refuses nobody for lack of consent without asking again', async () => {
    gateway.backends.answer({
      introspect: () => liveToken({ grant: { scopes: ['read:mood'] } }),
      listReadings,
    });
    expect(await read()).toBe(403);
    gateway.backends.answer({ introspect: () => liveToken(), listReadings });
    expect(await read()).toBe(200);
  });
});

describe('an eviction', () => {
  const owned = (clientId: string, familyId: string, grantId: string) => () =>
    liveToken({ principal: { clientId, familyId, grantId } });

  test.each<[string, () => void, boolean]>([
    ['its token', () => evict({ subject: { case: 'tokenHash', value: sha256(token) } }), true],
    ['its family', () => evict({ subject: { case: 'familyId', value: 'fam_a' } }), true],
    ['its grant', () => evict({ subject: { case: 'grantId', value: 'grt_a' } }), true],
    ['its app', () => evict({ subject: { case: 'clientId', value: 'app_a' } }), true],
    ['another token', () => evict({ subject: { case: 'tokenHash', value: sha256('x') } }), false],
    ['another family', () => evict({ subject: { case: 'familyId', value: 'fam_b' } }), false],
    ['another grant', () => evict({ subject: { case: 'grantId', value: 'fam_a' } }), false],
    ['nothing at all', () => evict({}), true],
  ])('of %s', async (_, apply, forgotten) => {
    gateway.backends.answer({ introspect: owned('app_a', 'fam_a', 'grt_a'), listReadings });
    await read();
    apply();
    await read();
    expect(introspections()).toBe(forgotten ? 2 : 1);
  });

  test('that cannot be read empties everything', async () => {
    await read();
    applyEviction(Buffer.from([0xff, 0xff, 0xff]), gateway.service.cache, silent);
    expect(gateway.service.cache.size).toBe(0);
  });

  test('that comes while authorization is being asked keeps the answer out, and later requests off it', async () => {
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    gateway.backends.answer({
      introspect: async () => {
        asked.resolve();
        await gate.promise;
        return liveToken();
      },
      listReadings,
    });
    const first = read();
    await asked.promise;
    evict({ subject: { case: 'grantId', value: 'grt_one' } });
    gateway.backends.answer({ introspect: () => liveToken({ grant: { status: GrantStatus.REVOKED } }) });
    expect(await read()).toBe(403);
    gateway.backends.answer({ introspect: () => liveToken(), listReadings });
    gateway.service.cache.clear();
    gate.resolve();
    expect(await first).toBe(200);
    expect(gateway.service.cache.size).toBe(0);
  });

  test('of an app makes each of its tokens be asked about again', async () => {
    const tokens = Array.from({ length: 5 }, () => newSecret('access_token'));
    for (const each of tokens) await read(each);
    expect(introspections()).toBe(5);
    evict({ subject: { case: 'clientId', value: 'app_one' } });
    for (const each of [...tokens, ...tokens]) expect(await read(each)).toBe(200);
    expect(introspections()).toBe(10);
  });
});
