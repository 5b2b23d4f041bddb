import { describe, expect, test } from '@jest/globals';
import { eventually } from '../src/conditions.ts';
import { FakeClock } from '../src/fake-clock.ts';

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
  test("returns the condition's result once it stops failing", async () => {
    let looks = 0;
    const value = await eventually(() => {
      looks += 1;
      if (looks === 1) throw new Error('not yet');
      return looks === 2 ? false : { looks };
    });
    expect(value).toEqual({ looks: 3 });
  });

  test('throws the last error on timeout', async () => {
    const never = () => expect(1).toBe(2);
    await expect(eventually(never, { timeoutMs: 20 })).rejects.toThrow(/toBe/);
    await expect(eventually(() => false, { timeoutMs: 20 })).rejects.toThrow(/still false/);
  });
});
