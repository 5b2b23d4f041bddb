import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { IssueTokenResponseSchema, TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError, type Reason, unavailable } from '@phds/service-kit/errors';
import { StreamLost } from '@phds/service-kit/rpc/call-stream';
import type { OpenStreams } from '@phds/service-kit/rpc/streamed-calls';
import { eventually } from '@phds/test-kit/conditions';
import { createTokenCalls, type TokenCalls } from '../src/clients/token-calls.ts';
import { BatchedReads, etagOf, FakeStream, HEART, reasonOf, responseOf } from './fake-read-stream.ts';

function searchFor(parameters: Readonly<Record<string, string>>) {
  const sent = Object.entries(parameters).map(([name, value]) => ({ name, value }));
  return { resourceType: 'Observation', id: '', parameters: sent };
}

describe('batched reads', () => {
  let reads: BatchedReads;
  beforeEach(() => {
    reads = new BatchedReads();
  });
  afterEach(() => reads[Symbol.dispose]());

  describe('a batch', () => {
    test('leaves at once, with all reads that arrive in the same turn, and each gets its own answer', async () => {
      const outcomes = reads.readMany(3, 'r');
      await reads.stream.whenSent(1);
      expect(reads.stream.ids(0)).toEqual(['r0', 'r1', 'r2']);
      expect(reads.stream.batches[0]?.[0]).toMatchObject({ assertion: 'a.b.c' });
      reads.stream.answer(0);
      expect(await Promise.all(outcomes.map(etagOf))).toEqual(['r0', 'r1', 'r2']);
      expect(reads.alone).toEqual([]);
    });

    test('has at most 64 reads, and two are in flight: the rest waits until one is answered', async () => {
      const { stream } = reads;
      const outcomes = reads.readMany(300, 'r');
      await stream.whenSent(2);
      expect(stream.batches.map(({ length }) => length)).toEqual([64, 64]);
      stream.answer(1);
      await stream.whenSent(3);
      expect(stream.ids(2)).toEqual(Array.from({ length: 64 }, (_, index) => `r${index + 128}`));
      stream.answer(0);
      await stream.whenSent(4);
      stream.answer(2);
      await stream.whenSent(5);
      stream.answer(3);
      stream.answer(4);
      expect(await Promise.all(outcomes.map(etagOf))).toEqual(outcomes.map((_, index) => `r${index}`));
    });

    test('goes to the replica with the fewest unanswered reads', async () => {
      const other = new FakeStream();
      reads.open = [reads.stream, other];
      void reads.readMany(10, 'a');
      await reads.stream.whenSent(1);
      const outcome = reads.read('b');
      await other.whenSent(1);
      other.answer(0);
      expect(await etagOf(outcome)).toBe('b');
      expect(reads.stream.batches).toHaveLength(1);
    });
  });

  describe('a waiting read', () => {
    test('is dropped if its client hangs up before it is sent', async () => {
      await reads.fill();
      const gone = reads.read('gone', { isWanted: () => false });
      const wanted = reads.read('wanted');
      reads.stream.answer(0);
      await reads.stream.whenSent(2);
      expect(reads.stream.ids(1)).toEqual(['wanted']);
      reads.stream.answer(1);
      expect(await etagOf(wanted)).toBe('wanted');
      expect(await reasonOf(gone)).toBe('unavailable');
      expect(reads.alone).toEqual([]);
    });

    test('has less time left for its answer', async () => {
      await reads.fill();
      void reads.read('waiting');
      const begin = performance.now();
      await eventually(() => performance.now() - begin > 20);
      reads.stream.answer(0);
      await reads.stream.whenSent(2);
      expect(reads.stream.batches[0]?.[0]?.timeoutMs).toBeGreaterThan(19_000);
      expect(reads.stream.batches[1]?.[0]?.timeoutMs).toBeLessThan(20_000 - 20);
    });
  });

  test('a read without time left is refused before it is sent', async () => {
    const late = new BatchedReads(0);
    expect(await reasonOf(late.read('late'))).toBe('unavailable');
    expect([late.stream.batches, late.alone]).toEqual([[], []]);
  });

  test.each([
    ['while no stream is open', HEART],
    ['of a deep page', { ...HEART, parameters: { page: { page: 2, pageSize: 20 } } }],
    ['since a date', { ...HEART, parameters: { from: '2026-01-01' } }],
    ['until a date', { ...HEART, parameters: { to: '2026-01-01' } }],
    ['of changes', { ...HEART, parameters: { updatedSince: '2026-01-01T00:00:00Z' } }],
    ['of a summary', { endpoint: Endpoint.AGGREGATIONS }],
    ['of EHR records', { endpoint: Endpoint.EHR }],
    ['of the newest Observations', { fhir: searchFor({ category: 'heart' }) }],
    ['of other resources', { fhir: { ...searchFor({}), resourceType: 'Condition' } }],
    ['of one resource', { fhir: { ...searchFor({}), id: 'rdg-1' } }],
  ])('a read %s is sent alone by the unary rpc', async (name, request) => {
    if (name === 'while no stream is open') reads.open = [];
    expect(await etagOf(reads.read('r', { request }))).toBe('alone r');
    expect(reads.stream.batches).toEqual([]);
  });

  test.each([
    ['without a page', HEART],
    ['on the first page', { ...HEART, parameters: { page: { page: 1, pageSize: 100 } } }],
    ['of one type', { ...HEART, parameters: { type: 'Heart Rate' } }],
  ])('a read of the newest readings %s goes over the stream', async (_, request) => {
    const outcome = reads.read('r', { request });
    await reads.stream.whenSent(1);
    reads.stream.answer(0);
    expect(await etagOf(outcome)).toBe('r');
  });
});

describe('failures of batched reads', () => {
  let reads: BatchedReads;
  beforeEach(() => {
    reads = new BatchedReads();
  });
  afterEach(() => reads[Symbol.dispose]());

  const lost = () => new StreamLost(new Error('cut'), true);

  describe('a read whose stream is lost', () => {
    test('is repeated once by the unary rpc', async () => {
      const outcome = reads.read('a');
      await reads.stream.whenSent(1);
      reads.stream.fail(lost());
      expect(await etagOf(outcome)).toBe('alone a');
      expect(reads.alone).toEqual(['a']);
    });

    test('is not repeated again when that fails', async () => {
      reads.readAlone = () => {
        throw unavailable();
      };
      const outcome = reads.read('a');
      await reads.stream.whenSent(1);
      reads.stream.fail(lost());
      expect(await reasonOf(outcome)).toBe('unavailable');
      expect(reads.alone).toEqual(['a']);
    });

    test('does not take back the answers that its batch already has', async () => {
      const [answered, unanswered] = reads.readMany(2, 'r');
      await reads.stream.whenSent(1);
      reads.stream.batches[0]?.[0]?.resolve(responseOf('answered'));
      reads.stream.fail(lost());
      expect(await answered).toMatchObject({ etag: 'answered' });
      expect(await unanswered).toMatchObject({ etag: 'alone r1' });
      expect(reads.alone).toEqual(['r1']);
    });

    test('while others wait: they too are read alone when no other stream is open', async () => {
      await reads.fill();
      const waiting = reads.read('waiting');
      reads.open = [];
      reads.stream.fail(lost());
      expect(await etagOf(waiting)).toBe('alone waiting');
    });
  });

  test.each<Reason>([
    'unavailable',
    'internal',
    'access_not_recorded',
    'assertion_stale',
    'unauthorized',
    'invalid_request',
  ])(
    'a read that health-data answers with %s is not repeated, and the others of its batch are answered',
    async (reason) => {
      const [before, refused, after] = reads.readMany(3, 'r');
      await reads.stream.whenSent(1);
      reads.stream.batches[0]?.[1]?.reject(new AppError(reason));
      reads.stream.answer(0);
      expect([(await before)?.etag, (await after)?.etag]).toEqual(['r0', 'r2']);
      expect(await reasonOf(refused)).toBe(reason);
      expect(reads.alone).toEqual([]);
    },
  );
});

describe('the time of batched reads', () => {
  // Time stands still except where a test moves it, so nothing here happens because a batch has become slow meanwhile.
  let reads: BatchedReads;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    reads = new BatchedReads();
  });
  afterEach(() => {
    reads[Symbol.dispose]();
    jest.useRealTimers();
  });

  /** Lets everything go on that waits for nothing. */
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  const lost = () => new StreamLost(new Error('cut'), true);

  describe('the next batch', () => {
    test('is shared by the apps in turn: an app with few reads does not wait behind one with many', async () => {
      await reads.fill(2);
      void reads.readMany(500, 'busy', { clientId: 'app_busy' });
      void reads.readMany(3, 'quiet', { clientId: 'app_quiet' });
      void reads.read('single', { clientId: 'app_single' });
      reads.stream.answer(0);
      await reads.stream.whenSent(3);
      const ids = reads.stream.ids(2);
      expect(ids).toHaveLength(64);
      expect(ids.slice(0, 7)).toEqual(['busy0', 'quiet0', 'single', 'busy1', 'quiet1', 'busy2', 'quiet2']);
    });

    test('leaves beside another when 12 reads wait, and after it when there are fewer', async () => {
      const { stream } = reads;
      await reads.fill();
      const few = reads.readMany(11, 'few');
      await turn();
      expect(stream.batches).toHaveLength(1);
      few.push(reads.read('few11'));
      await stream.whenSent(2);
      const last = reads.read('last');
      stream.answer(0);
      stream.answer(1);
      await stream.whenSent(3);
      stream.answer(2);
      expect(await Promise.all([...few, last].map(etagOf))).toEqual([...stream.ids(1), 'last']);
    });

    test('follows after 100 ms when a batch is slow, and its answers later make no room for a third', async () => {
      const { stream } = reads;
      await reads.fill(2);
      const waiting = reads.readMany(3 * 64, 'waiting');
      jest.advanceTimersByTime(99);
      await turn();
      expect(stream.batches).toHaveLength(2);
      jest.advanceTimersByTime(1);
      await stream.whenSent(4);
      stream.answer(0);
      stream.answer(1);
      await turn();
      expect(stream.batches).toHaveLength(4);
      stream.answer(2);
      await stream.whenSent(5);
      stream.answer(3);
      stream.answer(4);
      expect(await Promise.all(waiting.map(etagOf))).toHaveLength(3 * 64);
    });
  });

  describe('a read whose stream is lost', () => {
    test('is repeated by the unary rpc within the time that it has left', async () => {
      const outcome = reads.read('a');
      await reads.stream.whenSent(1);
      jest.advanceTimersByTime(5_000);
      reads.stream.fail(lost());
      expect(await etagOf(outcome)).toBe('alone a');
      expect(reads.aloneTimeouts).toEqual([15_000]);
    });

    test('is not repeated when no time is left', async () => {
      const outcome = reads.read('a');
      await reads.stream.whenSent(1);
      jest.advanceTimersByTime(20_000);
      reads.stream.fail(lost());
      expect(await reasonOf(outcome)).toBe('unavailable');
      expect(reads.alone).toEqual([]);
    });

    test('is not repeated when its client has hung up meanwhile', async () => {
      let isWanted = true;
      const outcome = reads.read('a', { isWanted: () => isWanted });
      await reads.stream.whenSent(1);
      isWanted = false;
      reads.stream.fail(lost());
      expect(await reasonOf(outcome)).toBe('unavailable');
      expect(reads.alone).toEqual([]);
    });
  });

  test('a waiting read is refused as unavailable when 2,000 others wait, and accepted again when there is room', async () => {
    await reads.fill(2);
    void reads.readMany(2_000, 'waiting');
    expect(await reasonOf(reads.read('too many'))).toBe('unavailable');
    reads.stream.answer(0);
    await reads.stream.whenSent(3);
    const accepted = etagOf(reads.read('accepted')).catch(() => 'refused');
    reads.stream.answer(1);
    const waits = reads.stream.whenSent(4).then(() => 'waits');
    expect(await Promise.race([accepted, waits])).toBe('waits');
    expect(reads.alone).toEqual([]);
  });
});

describe('calls of tokens', () => {
  type Issue = (typeof TokenService)['method']['issueToken'];
  type Stream = OpenStreams<Issue['input'], Issue['output']>['open'][number];
  type Sent = Parameters<Stream['send']>[0];

  const tokenOf = (accessToken: string) => create(IssueTokenResponseSchema, { accessToken });

  let batches: Sent[];
  let repeated: unknown[];
  let calls: TokenCalls;
  beforeEach(() => {
    batches = [];
    repeated = [];
    const stream = { load: 0, silentMs: 0, sentAt: 0, send: (sent: Sent) => void batches.push(sent) };
    const issueToken = async (request: unknown) => {
      repeated.push(request);
      return tokenOf('unary');
    };
    calls = createTokenCalls({
      tokens: { issueToken } as never,
      open: (_method, carried) => ({
        open: (carried.name === TokenService.method.issueToken.name ? [stream] : []) as never,
      }),
      deadlineMs: 20_000,
    });
  });
  afterEach(() => {
    for (const call of batches.flat()) call.reject(new StreamLost(new Error('the test is over'), false));
  });

  const CODE = { grantType: 'authorization_code', code: 'c' };
  const REFRESH = { grantType: 'refresh_token', refreshToken: 'r' };
  const OWN = { grantType: 'client_credentials' };

  test.each([
    ['refresh', 'may have been executed', REFRESH, true],
    ['userless token', 'may have been executed', OWN, true],
    ['refresh', 'was not sent', REFRESH, false],
    ['code', 'was not sent', CODE, false],
  ])(
    'a request of a %s whose stream is lost when it %s is repeated by the unary rpc',
    async (_what, _when, request, mayBeExecuted) => {
      const answer = calls.issueToken({ request });
      await eventually(() => batches.length === 1);
      batches[0]?.[0]?.reject(new StreamLost(new Error('cut'), mayBeExecuted));
      expect(await answer).toMatchObject({ accessToken: 'unary' });
      expect(repeated).toEqual([request]);
    },
  );

  test('a code that may have been exchanged is not sent again', async () => {
    const answer = calls.issueToken({ request: CODE });
    await eventually(() => batches.length === 1);
    batches[0]?.[0]?.reject(new StreamLost(new Error('cut'), true));
    await expect(answer).rejects.toMatchObject({ reason: 'unavailable' });
    expect(repeated).toEqual([]);
  });

  test('requests that arrive while a batch is in flight leave together when it is answered, the apps in turn', async () => {
    const issue = (key: string) =>
      void calls.issueToken({ request: { refreshToken: key }, key }).catch(() => undefined);
    issue('first');
    await eventually(() => batches.length === 1);
    for (const app of ['busy', 'busy', 'busy', 'quiet']) issue(app);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(batches).toHaveLength(1);
    batches[0]?.[0]?.resolve(tokenOf('first'));
    await eventually(() => batches.length === 2);
    expect(batches[1]?.map(({ request }) => request.refreshToken)).toEqual(['busy', 'quiet', 'busy', 'busy']);
  });
});
