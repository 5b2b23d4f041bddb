import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  expectStatus,
  type PartnerApp,
  registerApp,
  type Tokens,
  toTokens,
} from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { eventually } from '@phds/test-kit/conditions';

const HEART = 'read:health-data:heart';
const PATH = '/api/v1/health-data/heart';
let stack: SharedStack;
let app: PartnerApp;
let user: string;

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  user = await signIn(stack, 'expiry-ada');
});

const grantUrl = (id: string) => `${stack.gateway}/partner/consent/grants/${id}`;
const codeOf = ({ status, body }: Answer): [number, string] => [status, body.code];

async function shorten({ grantId }: Tokens, lifeMs: number): Promise<void> {
  const json = { expiresAt: new Date(Date.now() + lifeMs).toISOString() };
  expectStatus(200, await send(grantUrl(grantId), { method: 'PATCH', bearer: user, json }));
}

describe('an expired grant', () => {
  test('limits the lifetime of tokens to its own', async () => {
    const tokens = await app.connect(user, [HEART]);
    await shorten(tokens, 100_000);
    const { body } = expectStatus(200, await app.refresh(tokens.refreshToken));
    expect(body.expires_in).toBeLessThanOrEqual(100);
    expect(body.expires_in).toBeGreaterThan(60);
  });

  test('refuses data and refreshes, is listed as expired, and can be followed by another grant', async () => {
    const before = await app.connect(user, [HEART]);
    const shortenAndUse = async (lifeMs: number, refreshToken: string) => {
      await shorten(before, lifeMs);
      // This token cannot outlive the grant; the one before was issued for an hour.
      const capped = toTokens(expectStatus(200, await app.refresh(refreshToken)));
      expect((await app.read(capped.accessToken, PATH)).status).toBe(200);
      expect((await app.read(before.accessToken, PATH)).status).toBe(200);
      return capped;
    };
    const startedAt = performance.now();
    const { refreshToken } = await shortenAndUse(100_000, before.refreshToken);
    // Many times what the same requests needed, so that a busy machine finishes them before the grant expires.
    const lifeMs = Math.max(2_000, 10 * (performance.now() - startedAt));
    const capped = await shortenAndUse(lifeMs, refreshToken);

    await eventually(async () => {
      expect(codeOf(await app.read(before.accessToken, PATH))).toEqual([403, 'CONSENT_REQUIRED']);
    });
    const expired = await app.read(capped.accessToken, PATH);
    expect(codeOf(expired)).toEqual([401, 'TOKEN_EXPIRED']);
    expect(expired.headers.get('www-authenticate')).toBe('Bearer realm="phds", error="invalid_token"');
    expect(codeOf(await app.refresh(capped.refreshToken))).toEqual([400, 'INVALID_GRANT']);
    const { data } = expectStatus(200, await send(grantUrl(before.grantId), { bearer: user })).body;
    expect(data).toMatchObject({ status: 'expired', revokedAt: null, revokedBy: null });

    const again = await app.connect(user, [HEART]);
    expect(again.grantId).not.toBe(before.grantId);
    expect((await app.read(again.accessToken, PATH)).status).toBe(200);
    expect(codeOf(await app.read(before.accessToken, PATH))).toEqual([403, 'CONSENT_REQUIRED']);
  });
});

describe('a scope that was withdrawn and granted again', () => {
  test('works again at once with the existing token', async () => {
    const tokens = await app.connect(user, [HEART, 'read:profile']);
    const read = async () => codeOf(await app.read(tokens.accessToken, PATH));
    for (let i = 0; i < 3; i += 1) {
      expect(await read()).toEqual([200, undefined]);
      const json = { scopes: ['read:profile'] };
      expectStatus(200, await send(grantUrl(tokens.grantId), { method: 'PATCH', bearer: user, json }));
      expect(await read()).toEqual([403, 'CONSENT_REQUIRED']);
      const { grantId } = await app.expectCode(user, [HEART]);
      expect(grantId).toBe(tokens.grantId);
    }
    expect(await read()).toEqual([200, undefined]);
  });
});
