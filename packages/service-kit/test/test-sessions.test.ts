import { describe, expect, test } from '@jest/globals';
import { createSessionIssuer } from '@phds/test-kit/session-issuer';
import { openSessionKeys } from '../src/trust/keys.ts';
import { createSessionVerifier } from '../src/trust/session.ts';

describe('the session issuer of the tests', () => {
  test('issues sessions that its own keys verify, passed as text or served', async () => {
    const provider = await createSessionIssuer();
    await using served = await provider.serve();
    const session = await provider.issueSession('user-1');
    await using keys = openSessionKeys(served.url, {
      onFailure: () => undefined,
      timeoutMs: 2_000,
    });
    for (const jwks of [provider.jwks, keys]) {
      const verify = createSessionVerifier({ issuer: provider.issuer, audience: provider.audience, jwks });
      expect((await verify(session)).userId).toBe('user-1');
    }
  });

  test.each([
    ['another issuer', { issuer: 'https://other.test' }],
    ['another audience', { audience: 'other' }],
    ['another type', { typ: 'JWT' }],
    ['a past expiry', { expiresInSeconds: -120 }],
  ])('issues sessions that must be refused: %s', async (_name, overrides) => {
    const provider = await createSessionIssuer();
    const verify = createSessionVerifier(provider);
    await expect(verify(await provider.issueSession('user-1', overrides))).rejects.toThrow();
  });
});
