import { expect, test } from '@jest/globals';
import { startPeriodic } from '@phds/service-kit/periodic';
import { eventually } from '@phds/test-kit/conditions';
import { createAccessCounting } from '../src/app/access-counting.ts';

/** A counter that finds these numbers of batches in turn; the last one repeatedly, or none at the end. */
function createCounter(...found: (number | 'all that fit')[]) {
  const counter = {
    turns: 0,
    async countNext(atMost: number) {
      const next = counter.turns < 10_000 ? found[Math.min(counter.turns, found.length - 1)] : 0;
      counter.turns += 1;
      await new Promise(setImmediate);
      return next === 'all that fit' ? atMost : (next ?? 0);
    },
  };
  return counter;
}

test('counting continues while there is more than fits, and ends while others keep recording', async () => {
  const counter = createCounter('all that fit', 'all that fit', 1);
  await createAccessCounting(counter)(new AbortController().signal);
  expect(counter.turns).toBe(3);
});

test('counting ends with the service, whatever is left to count', async () => {
  const counter = createCounter('all that fit');
  {
    await using _counting = startPeriodic(createAccessCounting(counter), {
      intervalMs: 3_600_000,
      atOnce: true,
      onFailure: () => undefined,
    });
    await eventually(() => expect(counter.turns).toBeGreaterThan(1));
  }
  expect(counter.turns).toBeLessThan(10_000);
});

test('batches that are too large for the time of one statement are counted in smaller portions', async () => {
  const portions: number[] = [];
  let left = 40;
  const counting = createAccessCounting({
    async countNext(atMost) {
      portions.push(atMost);
      if (atMost > 30) throw new Error('canceling statement due to statement timeout');
      const taken = Math.min(atMost, left);
      left -= taken;
      return taken;
    },
  });
  const { signal } = new AbortController();
  for (let run = 0; run < 10; run += 1) await counting(signal).catch(() => undefined);
  expect(left).toBe(0);
  expect(portions.slice(0, 5)).toEqual([200, 100, 50, 25, 50]);
});
