import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { eventually } from '@phds/test-kit/conditions';
import { openTestPool } from '@phds/test-kit/test-pool';
import { type BatchedRead, type Outcome, openReadBatches, type ReadBatches } from './batched-reads.ts';
import { bodyOf, type Harness, reading, refusalOf, startHarness } from './harness.ts';

let harness: Harness;
let batches: ReadBatches;

beforeAll(async () => {
  harness = await startHarness();
  batches = openReadBatches(harness);
  for (const [index, person] of ['ada', 'grace'].entries()) {
    const times = Array.from({ length: 30 }, (_, minute) => `2026-01-02T10:${10 + minute}:00Z`);
    await harness.putReadings(
      person,
      times.map((time, minute) => reading('Heart Rate', time, 60 + minute + 50 * index)),
    );
  }
});
afterAll(async () => {
  batches[Symbol.dispose]();
  await harness[Symbol.asyncDispose]();
});
afterEach(() => harness.consent.forget());

const HEART = { endpoint: Endpoint.HEALTH_DATA, category: 'heart' };

async function heart(userId: string, about: Parameters<Harness['about']>[1] = {}): Promise<BatchedRead> {
  return { request: HEART, ...(await harness.about(userId, about)) };
}

async function readAll(reads: readonly BatchedRead[], through = batches): Promise<Outcome[]> {
  return Promise.all(await through.send(reads));
}

/** The values of a response, or the reason of an error. */
function summaryOf(outcome: Outcome | undefined): unknown {
  if (outcome === undefined) throw new Error('no outcome');
  return outcome instanceof Error ? outcome.reason : bodyOf(outcome).data.length;
}

describe('reads of one message', () => {
  test('are answered byte for byte as by the unary rpc, each person with their own data', async () => {
    const requests = [
      HEART,
      { ...HEART, parameters: { page: { page: 2, pageSize: 7 } } },
      { ...HEART, parameters: { from: '2026-01-02T10:15:00Z', to: '2026-01-03' } },
      { endpoint: Endpoint.AGGREGATIONS },
      { endpoint: Endpoint.MOOD },
      { endpoint: Endpoint.PROFILE },
    ];
    const reads: BatchedRead[] = [];
    for (const person of ['ada', 'grace', 'nobody']) {
      for (const request of requests) reads.push({ request, ...(await harness.about(person)) });
    }
    const alone = await Promise.all(
      reads.map(({ request, headers }) => harness.reads.read(request, { headers: headers ?? {} })),
    );
    const together = await readAll(reads);
    expect(together.map((outcome) => ({ ...outcome }))).toEqual(alone.map((response) => ({ ...response })));
    expect(summaryOf(together[0])).toBe(20);
    expect(together[0]).not.toEqual(together[requests.length]);
  });

  test('are refused alone for what is wrong with one of them, as by the unary rpc, and only the others are recorded', async () => {
    const { headers } = await harness.about('ada');
    const others = SCOPE_NAMES.filter((scope) => scope !== 'read:health-data:heart');
    const bad: BatchedRead[] = [
      { request: HEART },
      { request: HEART, headers: { 'phds-assertion': 'garbage' } },
      { request: { endpoint: 999 as Endpoint }, headers },
      { request: { endpoint: Endpoint.HEALTH_DATA, category: 'none' }, headers },
      { request: { ...HEART, parameters: { from: 'yesterday' } }, headers },
      await heart('ada', { scopes: others }),
      await heart(''),
    ];
    const good = await heart('ada');
    const outcomes = await readAll(bad.flatMap((read) => [good, read, good]));
    for (const [index, read] of bad.entries()) {
      const alone = await refusalOf(
        harness.reads.read(read.request, read.headers === undefined ? {} : { headers: read.headers }),
      );
      expect({ ...outcomes[3 * index + 1] }).toEqual({ ...alone });
      expect([outcomes[3 * index], outcomes[3 * index + 2]].map(summaryOf)).toEqual([20, 20]);
    }
    expect(harness.consent.accesses).toHaveLength(2 * bad.length);
  });

  test('are judged each by itself: the verdict on one never releases another', async () => {
    const names = Object.keys(Verdict).filter((name) =>
      Number.isNaN(Number(name)),
    ) as (keyof typeof Verdict)[];
    harness.consent.judge = ({ clientId }) => Verdict[clientId as keyof typeof Verdict];
    const outcomes = await readAll(
      await Promise.all(
        names.map((clientId, index) => heart(index % 2 === 0 ? 'ada' : 'grace', { clientId })),
      ),
    );
    expect(Object.fromEntries(names.map((name, index) => [name, summaryOf(outcomes[index])]))).toEqual({
      UNSPECIFIED: 'access_not_recorded',
      RELEASED: 20,
      TOKEN_EXPIRED: 'token_expired',
      TOKEN_REVOKED: 'unauthorized',
      FAMILY_REVOKED: 'unauthorized',
      GRANT_REVOKED: 'unauthorized',
      GRANT_EXPIRED: 'consent_required',
      SCOPE_WITHDRAWN: 'consent_required',
      APP_NOT_ALIVE: 'unauthorized',
      WINDOW_CHANGED: 'assertion_stale',
      RESTORE_UNCONFIRMED: 'unauthorized',
    });
    expect(harness.consent.accesses).toHaveLength(names.length);
  });

  test('are answered while one of them waits for the database', async () => {
    const pool = openTestPool(harness.database.adminUrl, { max: 1 });
    const lock = await pool.connect();
    await lock.query(`BEGIN; LOCK TABLE ${harness.database.schema}.mood_entry IN ACCESS EXCLUSIVE MODE`);
    const about = await harness.about('ada');
    const [slow, fast] = await batches.send([
      { request: { endpoint: Endpoint.MOOD }, ...about },
      await heart('ada'),
    ]);
    expect(summaryOf(await fast)).toBe(20);
    const [later] = await batches.send([await heart('grace')]);
    expect(summaryOf(await later)).toBe(20);
    await lock.query('ROLLBACK');
    lock.release();
    await pool.end();
    expect(summaryOf(await slow)).toBe(0);
  });
});

describe('a failed record of a batch', () => {
  const three = async () => [await heart('ada'), await heart('grace'), await heart('ada')];
  const REFUSED = ['access_not_recorded', 'access_not_recorded', 'access_not_recorded'];

  test('refuses all of it when the judgement fails after the record, and the next batch is released', async () => {
    const failed = Promise.reject(new Error('judgement failed'));
    failed.catch(() => undefined);
    harness.consent.gate = failed;
    expect((await readAll(await three())).map(summaryOf)).toEqual(REFUSED);
    expect(harness.consent.accesses).toHaveLength(3);
    harness.consent.forget();
    expect((await readAll(await three())).map(summaryOf)).toEqual([20, 20, 20]);
  });

  test.each([
    ['too few', (verdicts: Verdict[]) => verdicts.slice(1)],
    ['too many', (verdicts: Verdict[]) => [...verdicts, Verdict.RELEASED]],
    ['no', () => []],
  ])('releases nothing when there are %s verdicts', async (_, answer) => {
    harness.consent.answer = answer;
    expect((await readAll(await three())).map(summaryOf)).toEqual(REFUSED);
    expect(harness.consent.accesses).toHaveLength(3);
  });

  test('refuses all of it when consent hangs, within the deadline of the record', async () => {
    await using slow = await startHarness({ CONSENT_DEADLINE_MS: '50' });
    using through = openReadBatches(slow);
    const release = Promise.withResolvers<void>();
    slow.consent.gate = release.promise;
    const reads = [await slow.about('ada'), await slow.about('grace')].map((about) => ({
      request: HEART,
      ...about,
    }));
    expect((await readAll(reads, through)).map(summaryOf)).toEqual(REFUSED.slice(1));
    release.resolve();
    await eventually(async () => {
      expect((await readAll(reads, through)).map(summaryOf)).toEqual([0, 0]);
    });
  });

  test('refuses all of it when consent is away, and recovers by itself', async () => {
    await harness.consent.stop();
    expect((await readAll(await three())).map(summaryOf)).toEqual(REFUSED);
    await harness.consent.start();
    await eventually(async () => {
      expect((await readAll(await three())).map(summaryOf)).toEqual([20, 20, 20]);
    });
  });
});
