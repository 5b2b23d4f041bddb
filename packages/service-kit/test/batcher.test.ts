import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { batchingCalls, createTurns } from '../src/batcher.ts';
import { currentDeadline, Deadline, withinDeadline } from '../src/current-work.ts';
import { invalidRequest } from '../src/errors.ts';

// Time stands still except where a test moves it.
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
});
afterEach(() => {
  jest.useRealTimers();
});

/** Lets everything go on that waits for nothing. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

type Limits = Parameters<typeof batchingCalls<string, string>>[1];

/** Runs that end when the test says so. An item is `key:text`; its result has the number of its run. */
function createRuns(limits: Limits = {}) {
  const runs: {
    readonly items: readonly string[];
    readonly deadline: Deadline | undefined;
    readonly fail: (error: Error) => void;
    readonly answer: (results?: readonly string[]) => Promise<void>;
  }[] = [];
  const call = batchingCalls(
    (items: readonly string[]) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      const number = runs.length + 1;
      const answer = async (results: readonly string[] = items.map((item) => `${item}${number}`)) => {
        resolve(results);
        await turn();
        await turn();
      };
      runs.push({ items, deadline: currentDeadline(), fail: reject, answer });
      return promise;
    },
    { keyOf: (item) => item.split(':')[0] ?? '', ...limits },
  );
  const all = (...items: string[]) => Promise.allSettled(items.map(call));
  const within = (ms: number, item: string) => {
    const deadline = new Deadline(ms);
    return { deadline, outcome: withinDeadline(deadline, () => all(item)) };
  };
  return {
    call,
    all,
    within,
    items: () => runs.map((run) => run.items),
    run: (index: number) => runs[index]!,
  };
}

const values = (outcomes: readonly PromiseSettledResult<string>[]) =>
  outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.reason));
const some = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}:${index} `);

describe('a batch', () => {
  test('has what arrives in one turn; what arrives meanwhile shares the next one, which begins after it arrived', async () => {
    const { all, call, items, run } = createRuns();
    const first = all('a', 'b');
    await turn();
    const second = all('c', 'd');
    await turn();
    expect(items()).toEqual([['a', 'b']]);
    await run(0).answer();
    expect(items()).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    await run(1).answer();
    expect([values(await first), values(await second)]).toEqual([
      ['a1', 'b1'],
      ['c2', 'd2'],
    ]);
    void call('e');
    await turn();
    expect(items()[2]).toEqual(['e']);
  });

  test('does not exceed the maximum cost; the rest uses the next ones, in order, beside them only when enough waits', async () => {
    const { all, call, items } = createRuns({
      atOnce: (waiting) => (waiting < 3 ? 1 : 3),
      maxCost: 6,
      costOf: (item) => item.length,
      keyOf: () => '',
    });
    void all('a', 'bb', 'ccc', 'dddd', 'e', 'ff');
    await turn();
    expect(items()).toEqual([
      ['a', 'bb', 'ccc'],
      ['dddd', 'e'],
    ]);
    void call('g');
    await turn();
    expect(items()[2]).toEqual(['ff', 'g']);
  });

  test('that fails fails its items and no others, and makes room for the next', async () => {
    const { all, items, run } = createRuns();
    const failing = all('a', 'b');
    await turn();
    const next = all('c');
    const reason = new Error('lost');
    run(0).fail(reason);
    expect(await failing).toEqual(Array(2).fill({ status: 'rejected', reason }));
    await turn();
    await run(1).answer();
    expect(values(await next)).toEqual(['c2']);
    expect(items()).toHaveLength(2);
  });

  test.each([
    ['the called service', invalidRequest('item', 'is wrong')],
    ['Postgres', Object.assign(new Error('invalid byte sequence'), { code: '22021' })],
    ['a constraint', Object.assign(new Error('duplicate key'), { code: '23505' })],
  ])('that %s refuses because of one item fails that item alone', async (_, error) => {
    const run = async (items: readonly string[]) => {
      if (items.includes('bad')) throw error;
      return items;
    };
    const outcomes = await Promise.allSettled(['a', 'bad', 'c'].map(batchingCalls(run)));
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 'a' },
      { status: 'rejected', reason: error },
      { status: 'fulfilled', value: 'c' },
    ]);
  });

  test.each([[['a']], [['a', 'b', 'c']], [[]]])(
    'fails as a whole when it has the results %j for two items',
    async (results) => {
      const { all, run } = createRuns();
      const outcomes = all('a', 'b');
      await turn();
      await run(0).answer(results);
      expect(await outcomes).toEqual(
        Array(2).fill({ status: 'rejected', reason: new Error('not one result for each item') }),
      );
    },
  );
});

describe('a batch that is slow', () => {
  test('no longer holds up the next one; its end starts none beside that', async () => {
    const { all, items, run } = createRuns({ slowMs: 50 });
    const first = all('a');
    await turn();
    const second = all('b');
    jest.advanceTimersByTime(49);
    await turn();
    expect(items()).toHaveLength(1);
    jest.advanceTimersByTime(1);
    await turn();
    expect(items()).toHaveLength(2);
    void all('c');
    await run(0).answer();
    expect(values(await first)).toEqual(['a1']);
    expect(items()).toHaveLength(2);
    await run(1).answer();
    expect(values(await second)).toEqual(['b2']);
    expect(items()).toHaveLength(3);
  });

  test('holds up the others when as many are slow as may be', async () => {
    const { all, items, run } = createRuns({ slowMs: 50, maxSlow: 2 });
    for (const item of ['a', 'b', 'c', 'd']) {
      void all(item);
      await turn();
      jest.advanceTimersByTime(50);
      await turn();
    }
    expect(items()).toEqual([['a'], ['b'], ['c']]);
    // Now the third is one of the two slow ones.
    await run(0).answer();
    expect(items()).toHaveLength(4);
  });
});

describe('a caller', () => {
  test('that gives up before its item is sent is refused, and its item is not sent', async () => {
    const { all, within, items, run } = createRuns();
    void all('first');
    await turn();
    const { deadline, outcome } = within(10_000, 'gone');
    void all('wanted');
    deadline.end();
    await run(0).answer();
    expect(values(await outcome)).toEqual(['unavailable']);
    expect(items()).toEqual([['first'], ['wanted']]);
  });

  test('waits at most half of its time, even while the batch in flight hangs, and its item is not sent later', async () => {
    const { all, within, items, run } = createRuns();
    void all('hangs');
    await turn();
    const { outcome } = within(1_000, 'late');
    jest.advanceTimersByTime(490);
    const inTime = within(1_000, 'in time').outcome;
    jest.advanceTimersByTime(20);
    expect(values(await outcome)).toEqual(['unavailable']);
    await run(0).answer();
    expect(items()).toEqual([['hangs'], ['in time']]);
    await run(1).answer();
    expect(values(await inTime)).toEqual(['in time2']);
  });

  test('that gives up during a batch gets an error, the others get their results, and the last one ends the batch', async () => {
    const { within, run } = createRuns();
    const [gone, waiting] = [within(10_000, 'gone'), within(10_000, 'waiting')];
    await turn();
    gone.deadline.end();
    expect(run(0).deadline?.remainingMs()).toBeGreaterThan(5_000);
    await run(0).answer();
    expect([...values(await gone.outcome), ...values(await waiting.outcome)]).toEqual([
      'unavailable',
      'waiting1',
    ]);
    const last = within(10_000, 'last');
    await turn();
    last.deadline.end();
    expect(run(1).deadline?.remainingMs()).toBe(0);
  });
});

describe('keys', () => {
  test('take turns, and one without room takes the places of the one that has most', async () => {
    const { all, items, run } = createRuns({ maxQueued: 10, maxCost: 6 });
    void all('first:');
    await turn();
    const busy = all(...some(12, 'busy'));
    const quiet = all(...some(4, 'quiet'));
    const single = all('single:');
    await run(0).answer();
    expect(items()[1]).toEqual(['busy:0 ', 'quiet:0 ', 'single:', 'busy:1 ', 'quiet:1 ', 'busy:2 ']);
    await run(1).answer();
    await run(2).answer();
    const released = [await busy, await quiet, await single].map(
      (outcomes) => values(outcomes).filter((value) => value !== 'unavailable').length,
    );
    expect(released).toEqual([5, 4, 1]);
  });
});

describe('a key with a limit of its own', () => {
  test('is refused above it, others are not', async () => {
    const { all, run } = createRuns({ maxPerKey: 2 });
    void all('first:');
    await turn();
    const [busy, quiet] = [all(...some(3, 'busy')), all(...some(2, 'quiet'))];
    await run(0).answer();
    await run(1).answer();
    expect(values(await busy)).toEqual(['busy:0 2', 'busy:1 2', 'unavailable']);
    expect(values(await quiet)).toEqual(['quiet:0 2', 'quiet:1 2']);
  });
});

describe('changes with keys', () => {
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
      { keyOf: (item) => item.split(':')[0] ?? '', perKey: 1, marginMs: MARGIN_MS },
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
});

describe('turns', () => {
  test('begin at most so many at once, of one key fewer; each within the deadline of its caller', async () => {
    const turns = createTurns({ atOnce: 3, perKey: 2, maxWaitMs: 1_000 });
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const deadline = new Deadline(60_000);
    const take = (name: string) =>
      withinDeadline(deadline, () =>
        turns(name.slice(0, 1), async () => {
          expect(currentDeadline()).toBe(deadline);
          begun.push(name);
          await new Promise<void>((resolve) => ends.push(resolve));
          return name;
        }),
      );
    const outcomes = Promise.allSettled(['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(take));
    await turn();
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    ends[2]?.();
    await turn();
    await turn();
    expect(begun.slice(3)).toEqual(['a2']);
    ends[1]?.();
    await turn();
    await turn();
    // `a` has two running, so its third waits although it came first.
    expect(begun.slice(4)).toEqual(['b2']);
    jest.advanceTimersByTime(1_000);
    for (const end of ends) end();
    expect(values(await outcomes)).toEqual(['a1', 'a2', 'unavailable', 'b1', 'b2', 'c1']);
  });

  test('fail with the error of their work, and make room', async () => {
    const turns = createTurns({ atOnce: 1 });
    const failing = turns('a', () => Promise.reject(new Error('lost')));
    const next = turns('a', async () => 'next');
    await expect(failing).rejects.toThrow('lost');
    expect(await next).toBe('next');
  });
});
