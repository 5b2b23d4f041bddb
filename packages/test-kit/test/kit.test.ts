import { describe, expect, test } from '@jest/globals';
import { createSessionVerifier } from '@phds/service-kit/session';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createSessionIssuer } from '@phds/test-kit/session-issuer';

describe('FakeClock', () => {
  test('stands still until it is moved', () => {
    const clock = new FakeClock('2026-01-01T00:00:00Z');
    clock.advance(1_500);
    expect(clock.now().toISOString()).toBe('2026-01-01T00:00:01.500Z');
    clock.set('2027-01-01T00:00:00Z');
    expect(clock.now().getUTCFullYear()).toBe(2027);
  });
});

describe('eventually', () => {
  test('answers what the condition returned once it stops failing', async () => {
    let looks = 0;
    const value = await eventually(() => {
      looks += 1;
      if (looks === 1) throw new Error('not yet');
      return looks === 2 ? false : { looks };
    });
    expect(value).toEqual({ looks: 3 });
  });

  test('throws the last error when time is up', async () => {
    const never = () => expect(1).toBe(2);
    await expect(eventually(never, { timeoutMs: 20 })).rejects.toThrow(/toBe/);
    await expect(eventually(() => false, { timeoutMs: 20 })).rejects.toThrow(/still false/);
  });
});

describe('createSessionIssuer', () => {
  test('issues sessions that its own keys verify, given as text or served', async () => {
    const provider = await createSessionIssuer();
    await using served = await provider.serve();
    const session = await provider.issueSession('user-1');
    for (const jwks of [provider.jwks, served.url]) {
      const verify = createSessionVerifier({ issuer: provider.issuer, audience: provider.audience, jwks });
      expect((await verify(session)).userId).toBe('user-1');
    }
  });

  test.each([
    ['another issuer', { issuer: 'https://other.test' }],
    ['another audience', { audience: 'other' }],
    ['another type', { typ: 'JWT' }],
    ['a past expiry', { expiresInSeconds: -120 }],
  ])('makes sessions that must be refused: %s', async (_name, overrides) => {
    const provider = await createSessionIssuer();
    const verify = createSessionVerifier(provider);
    await expect(verify(await provider.issueSession('user-1', overrides))).rejects.toThrow();
  });
});
