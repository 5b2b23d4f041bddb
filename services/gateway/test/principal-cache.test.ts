import { expect, test } from '@jest/globals';
import { sha256 } from '@phds/service-kit/secrets';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { toCacheKey } from '../src/cache/authenticator.ts';
import { PrincipalCache } from '../src/cache/principal-cache.ts';
import type { Principal } from '../src/domain/principal.ts';

const TTL_MS = 50_000;
const TOKENS = 1_000;
const KEYS = Array.from({ length: TOKENS }, (_, index) => toCacheKey(sha256(`token ${index}`)));

const PRINCIPAL: Principal = {
  clientId: 'app_one',
  userId: 'usr_one',
  grantId: 'grt_one',
  familyId: 'fam_one',
  scopes: new Set(['read:heart']),
  expiresAt: Number.MAX_SAFE_INTEGER,
  grant: null,
  ledgerChecked: true,
  assertion: '',
};

test('facts that were asked for together are not forgotten together', () => {
  const clock = new FakeClock(new Date());
  const cache = new PrincipalCache({ maxTokens: TOKENS, ttlMs: TTL_MS, clock });
  const countKnown = () => KEYS.filter((key) => cache.find(key) !== null).length;
  for (const key of KEYS) cache.put(key, PRINCIPAL, clock.now().getTime(), cache.generation);

  clock.advance(TTL_MS / 2);
  const known = [countKnown()];
  for (let second = 26; second <= 50; second += 1) {
    clock.advance(1_000);
    known.push(countKnown());
  }

  expect(known.at(0)).toBe(TOKENS);
  expect(known.at(-1)).toBe(0);
  // Of a thousand in 25 seconds, 40 each.
  const forgotten = known.slice(1).map((count, index) => (known[index] as number) - count);
  expect(Math.max(...forgotten)).toBeLessThan(80);
});
