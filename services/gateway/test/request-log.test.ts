import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { type LoggedRequest, RequestLog, type SharedRequestLog } from '../src/usage/request-log.ts';

const HOUR_MS = 3_600_000;

const clock = new FakeClock(new Date('2026-03-01T10:00:00Z'));
let number = 0;

function request(changes: Partial<LoggedRequest> = {}): LoggedRequest {
  number += 1;
  const at = clock.now().getTime() + number;
  const endpoint = '/api/v1/mood';
  return {
    requestId: `req_${number}`,
    at,
    method: 'GET',
    endpoint,
    status: 200,
    code: null,
    ms: 3,
    ...changes,
  };
}

/** Stands for Redis: what every gateway stores in it is in one list, unless it is down. */
class FakeSharedLog implements SharedRequestLog {
  readonly stored = new Map<string, LoggedRequest[]>();
  down = false;
  /** Whether Redis stores the requests and its answer is lost. */
  losesAnswers = false;

  async append(requests: ReadonlyMap<string, readonly LoggedRequest[]>): Promise<void> {
    if (this.down) throw new Error('down');
    for (const [app, added] of requests) this.stored.set(app, [...(this.stored.get(app) ?? []), ...added]);
    if (this.losesAnswers) throw new Error('timeout');
  }

  async find(clientId: string): Promise<LoggedRequest[] | null> {
    return this.down ? null : (this.stored.get(clientId) ?? []);
  }
}

let shared: FakeSharedLog;
let log: RequestLog;
beforeEach(() => {
  shared = new FakeSharedLog();
  log = new RequestLog({ shared, clock });
});
afterEach(() => {
  number = 0;
});

const idsOf = async (from: RequestLog, clientId = 'app_1') =>
  (await from.find(clientId)).requests.map(({ requestId }) => requestId);

describe('the request log', () => {
  test('shows the requests of all gateways, newest first, whether or not they have been moved to Redis', async () => {
    const other = new RequestLog({ shared, clock });
    log.add('app_1', request());
    other.add('app_1', request());
    await log.handOver();
    await other.handOver();
    log.add('app_1', request());
    expect(await log.find('app_1')).toMatchObject({ complete: true });
    expect(await idsOf(log)).toEqual(['req_3', 'req_2', 'req_1']);
    expect(await idsOf(other)).toEqual(['req_2', 'req_1']);
  });

  test('keeps the requests of each app apart', async () => {
    log.add('app_1', request());
    log.add('app_2', request());
    expect(await idsOf(log)).toEqual(['req_1']);
    await log.handOver();
    expect(await idsOf(log, 'app_2')).toEqual(['req_2']);
    expect(await idsOf(log, 'app_3')).toEqual([]);
  });

  test('keeps requests while Redis is down, says that it is not complete, and moves them when Redis is back', async () => {
    shared.down = true;
    log.add('app_1', request());
    await expect(log.handOver()).rejects.toThrow('down');
    log.add('app_1', request());
    await expect(log.handOver()).rejects.toThrow('down');
    expect((await log.find('app_1')).complete).toBe(false);
    expect(await idsOf(log)).toEqual(['req_2', 'req_1']);
    shared.down = false;
    await log.handOver();
    expect(shared.stored.get('app_1')?.map(({ requestId }) => requestId)).toEqual(['req_1', 'req_2']);
    expect(await log.find('app_1')).toMatchObject({ complete: true });
  });

  test('shows a request once when Redis stored it and the answer was lost', async () => {
    shared.losesAnswers = true;
    log.add('app_1', request());
    await expect(log.handOver()).rejects.toThrow('timeout');
    shared.losesAnswers = false;
    await log.handOver();
    expect(shared.stored.get('app_1')).toHaveLength(2);
    expect(await idsOf(log)).toEqual(['req_1']);
  });

  test('without Redis shows the requests at this gateway, and says that it is not complete', async () => {
    log = new RequestLog({ shared: null, clock });
    log.add('app_1', request());
    await log.handOver();
    expect(await log.find('app_1')).toMatchObject({ requests: [{ requestId: 'req_1' }], complete: false });
  });

  test('keeps the latest 200 requests of an app, and of at most 1,000 apps in memory', async () => {
    log = new RequestLog({ shared: null, clock });
    for (let i = 0; i < 150; i += 1) log.add('app_1', request());
    await log.handOver();
    for (let i = 0; i < 150; i += 1) log.add('app_1', request());
    const ids = await idsOf(log);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([200, 'req_300', 'req_101']);
    for (let i = 0; i < 1_000; i += 1) {
      log.add(`app_other_${i}`, request());
      await log.handOver();
    }
    expect(await idsOf(log)).toEqual([]);
    expect(await idsOf(log, 'app_other_0')).toHaveLength(1);
  });

  test('forgets a request after 24 hours', async () => {
    log.add('app_1', request({ at: clock.now().getTime() }));
    await log.handOver();
    clock.advance(24 * HOUR_MS);
    expect(await idsOf(log)).toHaveLength(1);
    clock.advance(1);
    expect(await idsOf(log)).toEqual([]);
  });
});
