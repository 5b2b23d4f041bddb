import { describe, expect, test } from '@jest/globals';
import { currentDeadline, Deadline, withinDeadline } from '@phds/service-kit/deadline';
import { eventually } from '@phds/test-kit/conditions';
import { MergedQueries } from '../src/store/merged-queries.ts';

const LONG_MS = 60_000;

interface Statement {
  readonly queries: readonly number[];
  readonly deadline: Deadline | undefined;
  readonly finish: (results: readonly string[]) => void;
  readonly fail: (error: Error) => void;
}

/** Merged queries whose statements are finished by the test. A query is its own size. */
function startMerging({ atOnce = 2, maxSize = 64 } = {}) {
  const statements: Statement[] = [];
  const merged = new MergedQueries<number, string>({
    run: (queries) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      statements.push({ queries, deadline: currentDeadline(), finish: resolve, fail: reject });
      return promise;
    },
    atOnce,
    sizeOf: (query) => query,
    maxSize,
  });
  const ask = (...queries: number[]) => queries.map((query) => merged.ask(query));
  const asked = () => statements.map(({ queries }) => queries);
  const statement = (index: number) => statements[index] as Statement;
  return { merged, ask, asked, statement };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const answer = ({ queries, finish }: Statement) => finish(queries.map((query) => `result ${query}`));

describe('queries', () => {
  test('of one turn of the event loop share a statement, and each gets its own result', async () => {
    const { ask, asked, statement } = startMerging();
    const results = ask(1, 2, 3);
    await turn();
    expect(asked()).toEqual([[1, 2, 3]]);
    answer(statement(0));
    expect(await Promise.all(results)).toEqual(['result 1', 'result 2', 'result 3']);
  });

  test('are sent at the end of the turn, without waiting for others', async () => {
    const { ask, asked } = startMerging();
    void ask(1);
    expect(asked()).toEqual([]);
    await turn();
    expect(asked()).toEqual([[1]]);
  });

  test('that arrive while two statements are in progress share the next one', async () => {
    const { ask, asked, statement } = startMerging();
    const results: Promise<string>[] = [];
    for (const query of [1, 2, 3, 4, 5]) {
      results.push(...ask(query));
      await turn();
    }
    expect(asked()).toEqual([[1], [2]]);
    answer(statement(1));
    await eventually(() => expect(asked()).toEqual([[1], [2], [3, 4, 5]]));
    answer(statement(0));
    answer(statement(2));
    expect(await Promise.all(results)).toHaveLength(5);
  });

  test('of one statement do not exceed the maximum size; the rest use the next one, in order', async () => {
    const { ask, asked } = startMerging({ maxSize: 6 });
    void ask(1, 2, 3, 4, 1, 2);
    await turn();
    await turn();
    expect(asked()).toEqual([
      [1, 2, 3],
      [4, 1],
    ]);
  });
});

describe('an error', () => {
  test('of a statement rejects its queries and no others', async () => {
    const { ask, statement } = startMerging();
    const failing = Promise.allSettled(ask(1, 2));
    await turn();
    const others = ask(3);
    await turn();
    const error = new Error('the database is gone');
    statement(0).fail(error);
    answer(statement(1));
    expect(await failing).toEqual([
      { status: 'rejected', reason: error },
      { status: 'rejected', reason: error },
    ]);
    expect(await Promise.all(others)).toEqual(['result 3']);
  });

  test('makes room for the next statement', async () => {
    const { ask, statement } = startMerging({ atOnce: 1 });
    const failing = Promise.allSettled(ask(1));
    await turn();
    const next = ask(2);
    statement(0).fail(new Error('the database is gone'));
    await failing;
    await turn();
    answer(statement(1));
    expect(await Promise.all(next)).toEqual(['result 2']);
  });

  test.each([[['result 1']], [['result 1', 'result 2', 'result 3']]])(
    'is the outcome of every query when the number of results is wrong',
    async (results) => {
      const { ask, statement } = startMerging();
      const asked = Promise.allSettled(ask(1, 2));
      await turn();
      statement(0).finish(results);
      const reason = new Error('the number of results is wrong');
      expect(await asked).toEqual([
        { status: 'rejected', reason },
        { status: 'rejected', reason },
      ]);
    },
  );
});

describe('a caller that gives up', () => {
  const GIVEN_UP = { status: 'rejected', reason: expect.objectContaining({ code: 'ETIMEDOUT' }) };

  /** Each query is asked by a caller of its own. */
  function askWithin(merged: MergedQueries<number, string>, ...queries: number[]) {
    const deadlines = queries.map(() => new Deadline(LONG_MS));
    const results = queries.map((query, index) =>
      withinDeadline(deadlines[index] as Deadline, () => merged.ask(query)),
    );
    return { deadlines, settled: Promise.allSettled(results) };
  }

  test('during a statement gets an error, and the others get their results', async () => {
    const { merged, statement } = startMerging();
    const { deadlines, settled } = askWithin(merged, 1, 2);
    await turn();
    deadlines[0]?.end();
    expect(statement(0).deadline?.remainingMs()).toBeGreaterThan(LONG_MS / 2);
    answer(statement(0));
    expect(await settled).toEqual([GIVEN_UP, { status: 'fulfilled', value: 'result 2' }]);
  });

  test('as the last one ends the statement', async () => {
    const { merged, statement } = startMerging();
    const { deadlines } = askWithin(merged, 1, 2, 3);
    await turn();
    for (const deadline of deadlines) {
      expect(statement(0).deadline?.remainingMs()).toBeGreaterThan(0);
      deadline.end();
    }
    expect(statement(0).deadline?.remainingMs()).toBe(0);
  });

  test('does not end a statement that a call without a deadline waits for', async () => {
    const { merged, ask, statement } = startMerging();
    const { deadlines } = askWithin(merged, 1);
    void ask(2);
    await turn();
    deadlines[0]?.end();
    expect(statement(0).deadline).toBeUndefined();
  });

  test('before its statement is sent is left out', async () => {
    const { merged, asked, statement } = startMerging({ atOnce: 1 });
    askWithin(merged, 1);
    await turn();
    const { deadlines, settled } = askWithin(merged, 2, 3);
    deadlines[0]?.end();
    answer(statement(0));
    await eventually(() => expect(asked()).toEqual([[1], [3]]));
    answer(statement(1));
    expect(await settled).toEqual([GIVEN_UP, { status: 'fulfilled', value: 'result 3' }]);
  });

  test('alone before its statement is sent causes no statement and delays nobody', async () => {
    const { merged, ask, asked } = startMerging({ atOnce: 1 });
    const { deadlines, settled } = askWithin(merged, 1);
    deadlines[0]?.end();
    await turn();
    expect(await settled).toEqual([GIVEN_UP]);
    void ask(2);
    await turn();
    expect(asked()).toEqual([[2]]);
  });
});
