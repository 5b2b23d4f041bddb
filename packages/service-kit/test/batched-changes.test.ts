import { expect, test } from '@jest/globals';
import { batchingCalls } from '../src/batcher.ts';
import { Deadline, withinDeadline } from '../src/deadline.ts';

const MARGIN_MS = 500;

/** Changes `key:text`; `before` is called before each commit. */
function createChanges(before: () => void = () => undefined) {
  const runs: (readonly string[])[] = [];
  const change = batchingCalls(
    async (items: readonly string[], requireTimeLeft) => {
      runs.push(items);
      await Promise.resolve();
      before();
      requireTimeLeft();
      return items;
    },
    { keyOf: (item) => item.split(':')[0] ?? '', oncePerKey: true, marginMs: MARGIN_MS },
  );
  const late = (deadline: Deadline, item: string) =>
    expect(withinDeadline(deadline, () => change(item))).rejects.toMatchObject({ reason: 'unavailable' });
  return { runs, change, late };
}

test('of one key, a batch has at most one change; the others follow in order', async () => {
  const { runs, change } = createChanges();
  const items = ['a:1', 'a:2', 'b:1', 'a:3', 'b:2'];
  expect(await Promise.all(items.map(change))).toEqual(items);
  expect(runs).toEqual([['a:1', 'b:1'], ['a:2', 'b:2'], ['a:3']]);
});

test('a late change is refused without a run, and does not hold up the others of its key', async () => {
  const { runs, change, late } = createChanges();
  const items = ['a:1', 'b:1'];
  await Promise.all([late(new Deadline(MARGIN_MS - 10), 'a:late'), ...items.map(change)]);
  expect(runs.flat().sort()).toEqual(items);
});

test('a change that gets late during its run is not committed; the others are, in a run without it', async () => {
  const deadline = new Deadline(60_000);
  const { runs, change, late } = createChanges(() => deadline.end());
  const items = ['a:1', 'c:1'];
  const [, ...committed] = await Promise.all([late(deadline, 'b:late'), ...items.map(change)]);
  expect(committed).toEqual(items);
  expect(runs).toEqual([['b:late', ...items], items]);
});
