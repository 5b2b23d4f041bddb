import { describe, expect, test } from '@jest/globals';
import { json, makeClient, problem, type Reply, type Sent, tokens } from './made-client.ts';

const WINDOW_MS = 60_000;
const QUOTA = 300;

async function connect(reply: (sent: Sent, index: number, now: number) => Reply) {
  const made = makeClient((sent, index) => reply(sent, index, made.clock.now()));
  await made.store.replace('grt_1', null, tokens(1, made.clock.now()));
  const waits: number[] = [];
  const onWait = (waitMs: number) => waits.push(waitMs);
  return { ...made, waits, onWait, connection: made.client.connection('grt_1') };
}

/** Answers as the service does with 300 requests a minute. */
function limited(answer: (sent: Sent, index: number) => unknown) {
  let [window, used] = [0, 0];
  return (sent: Sent, index: number, now: number): Reply => {
    const current = Math.floor(now / WINDOW_MS);
    if (current !== window) [window, used] = [current, 0];
    const seconds = Math.ceil(((window + 1) * WINDOW_MS - now) / 1_000);
    if (used === QUOTA) return problem(429, 'RATE_LIMITED');
    used += 1;
    const fields = { 'RateLimit-Policy': `"app-user";q=${QUOTA};w=60` };
    const state = `"app-user";r=${QUOTA - used};t=${seconds}`;
    return json(200, answer(sent, index), { ...fields, RateLimit: state });
  };
}

const batch = (index: number, last = 999) => ({
  data: [],
  sync: { cursor: `cur_${index}`, hasMore: index < last, lastDataAt: null, timeZone: 'UTC' },
});
const noMore = () => problem(429, 'RATE_LIMITED', {}, { 'Retry-After': '57' });

describe('the pace of long reads', () => {
  test('a sync of 1,000 pages keeps below the limit, sends half of it at once, and tells its waits', async () => {
    const { connection, clock, waits, onWait } = await connect(limited((_, index) => batch(index)));
    const started = clock.now();
    const cursors: string[] = [];
    for await (const { cursor } of connection.sync('heart', { onWait })) cursors.push(cursor);
    expect(cursors.length).toBe(1_000);
    expect(waits).toEqual(clock.slept);
    expect(waits.length).toBeLessThan(600);
    expect(clock.now() - started).toBeLessThanOrEqual(4 * WINDOW_MS);
  });

  test('a list is paced as well', async () => {
    const pagination = { page: 1, pageSize: 1, total: 700, totalPages: 700 };
    const { connection } = await connect(limited((_, id) => ({ data: [{ id }], pagination })));
    const all = await connection.healthData('heart', { pageSize: 1 }).toArray({ limit: 1_000 });
    expect(all.length).toBe(700);
  });

  test('a sync waits as long as the service says, beyond the budget for repeats, and goes on', async () => {
    const { connection, waits, onWait } = await connect((_, index) =>
      index % 2 === 0 ? noMore() : json(200, batch(index, 3)),
    );
    const cursors: string[] = [];
    for await (const { cursor } of connection.sync('heart', { onWait })) cursors.push(cursor);
    expect([cursors, waits]).toEqual([
      ['cur_1', 'cur_3'],
      [57_000, 57_000],
    ]);
  });

  test('a sync with a budget of its own does not wait longer, and one that waits stops with its signal', async () => {
    const { connection, clock, service } = await connect(noMore);
    await expect(connection.sync('heart', { retryBudgetMs: 30_000 }).next()).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterSeconds: 57,
    });
    const stop = new AbortController();
    const onWait = () => stop.abort(new Error('the job was stopped'));
    const first = connection.sync('heart', { signal: stop.signal, onWait }).next();
    await expect(first).rejects.toThrow('the job was stopped');
    expect([clock.slept, service.sent.length]).toEqual([[], 2]);
  });
});
