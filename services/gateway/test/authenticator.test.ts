import { create } from '@bufbuild/protobuf';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { IntrospectResponseSchema, TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { unauthorized, unavailable } from '@phds/service-kit/errors';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { Authenticator } from '../src/cache/authenticator.ts';
import { PrincipalCache } from '../src/cache/principal-cache.ts';
import { liveToken } from './test-gateway.ts';

describe('a cached token in steady use', () => {
  const dead = () => create(IntrospectResponseSchema, { status: TokenStatus.DEAD });
  let clock: FakeClock;
  let cache: PrincipalCache;
  let authenticator: Authenticator;
  let token: string;
  let asked: Uint8Array[];
  let turns: string[];
  let answer: () => ReturnType<typeof liveToken>;

  beforeEach(async () => {
    clock = new FakeClock(new Date());
    cache = new PrincipalCache({ maxTokens: 10, ttlMs: 50_000, clock });
    const tokens = {
      introspect: async ({ request, key = '' }: { request: { tokenHash?: Uint8Array }; key?: string }) => {
        asked.push(request.tokenHash ?? new Uint8Array());
        turns.push(key);
        return answer();
      },
    };
    authenticator = new Authenticator({ tokens, cache, clock });
    token = newSecret('access_token');
    asked = [];
    turns = [];
    answer = () => liveToken();
    await authenticator.authenticate(token);
  });

  /** Uses the token each second, and renews what is due, until something was. */
  const useUntilRenewed = async () => {
    const before = asked.length;
    for (let second = 0; second < 50 && asked.length === before; second += 1) {
      clock.advance(1_000);
      expect((await authenticator.authenticate(token)).fromCache).toBe(true);
      await authenticator.renewDue();
    }
  };

  test('is renewed by its hash before its entry ends, so that no request waits for authorization', async () => {
    for (let renewals = 1; renewals <= 5; renewals += 1) {
      await useUntilRenewed();
      expect(asked).toHaveLength(renewals + 1);
    }
    for (const hash of asked) expect(Buffer.from(hash)).toEqual(sha256(token));
    // So no waiting request is behind all renewals.
    expect(turns).toEqual(['', ...Array(5).fill('renewals')]);
  });

  test.each<[string, () => ReturnType<typeof liveToken>]>([
    ['says that it is dead', dead],
    [
      'refuses it',
      () => {
        throw unauthorized();
      },
    ],
  ])('is asked about at its next use when authorization %s', async (_, refusal) => {
    answer = refusal;
    await useUntilRenewed();
    expect(cache.size).toBe(0);
    await expect(authenticator.authenticate(token)).rejects.toMatchObject({ reason: 'unauthorized' });
    expect(asked).toHaveLength(3);
  });

  test('keeps its facts until they end when authorization is away, and is then asked about', async () => {
    answer = () => {
      throw unavailable(new Error('away'));
    };
    await useUntilRenewed();
    expect((await authenticator.authenticate(token)).fromCache).toBe(true);
    await authenticator.renewDue();
    expect(asked).toHaveLength(2);
    clock.advance(10_000);
    await expect(authenticator.authenticate(token)).rejects.toMatchObject({ reason: 'unavailable' });
  });

  test('that is evicted during its renewal is asked about at its next use', async () => {
    answer = () => {
      cache.evict({ kind: 'grant', value: 'grt_one' });
      return liveToken();
    };
    await useUntilRenewed();
    answer = dead;
    await expect(authenticator.authenticate(token)).rejects.toMatchObject({ reason: 'unauthorized' });
  });
});
