import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { PhdsError } from '../src/errors.ts';
import {
  json,
  lostConnection,
  makeClient,
  problem,
  type Reply,
  type SleepingClock,
  tokenAnswer,
  tokens,
} from './made-client.ts';

const PROFILE = { name: null, gender: null, dateOfBirth: null, bloodType: null };

async function readProfile(replies: readonly (() => Reply)[], options = {}) {
  const made = makeClient((_, index) => replies[index]?.() ?? json(200, { data: PROFILE }));
  await made.store.replace('grt_1', null, tokens(1, made.clock.now()));
  return { ...made, profile: made.client.connection('grt_1').profile(options) };
}

describe('repeats', () => {
  test('a request is repeated after the seconds in Retry-After', async () => {
    const { profile, clock } = await readProfile([
      () => problem(429, 'RATE_LIMITED', {}, { 'Retry-After': '7' }),
      () => problem(503, 'ACCESS_NOT_RECORDED', {}, { 'Retry-After': '1' }),
    ]);
    expect(await profile).toEqual(PROFILE);
    expect(clock.slept).toEqual([7_000, 1_000]);
  });

  test('a request is repeated with growing waits when nothing answers or the service fails', async () => {
    const { profile, clock } = await readProfile([
      lostConnection,
      () => problem(500, 'INTERNAL_ERROR'),
      () => new Response('<html>bad gateway</html>', { status: 502 }),
    ]);
    expect(await profile).toEqual(PROFILE);
    expect(clock.slept).toEqual([125, 250, 500]);
  });

  test('a request fails with the last error when the next wait exceeds the budget', async () => {
    const { profile, clock, service } = await readProfile([
      () => problem(429, 'RATE_LIMITED', { requestId: 'req_1' }, { 'Retry-After': '31' }),
    ]);
    const error = await profile.catch((thrown) => thrown);
    expect(error).toBeInstanceOf(PhdsError);
    expect(error).toMatchObject({
      code: 'RATE_LIMITED',
      status: 429,
      retryAfterSeconds: 31,
      requestId: 'req_1',
    });
    expect(clock.slept).toEqual([]);
    expect(service.sent.length).toBe(1);
  });

  test('a request stops when the service stays away for the budget', async () => {
    const made = makeClient(lostConnection);
    await made.store.replace('grt_1', null, tokens(1, made.clock.now()));
    const started = made.clock.now();
    await expect(made.client.connection('grt_1').profile()).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      status: null,
    });
    expect(made.clock.now() - started).toBeLessThanOrEqual(30_000);
    expect(made.service.sent.length).toBeGreaterThan(5);
  });

  test('a request is not repeated with a budget of 0', async () => {
    const { profile, service } = await readProfile([lostConnection], { retryBudgetMs: 0 });
    await expect(profile).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
    expect(service.sent.length).toBe(1);
  });

  test.each([
    [400, 'INVALID_REQUEST'],
    [403, 'INSUFFICIENT_SCOPE'],
    [404, 'NOT_FOUND'],
  ])(
    'a request is not repeated after %i %s, which another attempt would not change',
    async (status, code) => {
      const { profile, service } = await readProfile([() => problem(status, code)]);
      await expect(profile).rejects.toMatchObject({ code, status });
      expect(service.sent.length).toBe(1);
    },
  );

  test('a request ends with the reason of the signal, during a request and during a wait', async () => {
    const stopped = AbortSignal.abort(new Error('the person left'));
    const { profile } = await readProfile([], { signal: stopped });
    await expect(profile).rejects.toThrow('the person left');

    const stop = new AbortController();
    const waiting = await readProfile(
      [
        () => {
          stop.abort(new Error('the person left later'));
          return problem(503, 'INTERNAL_ERROR');
        },
      ],
      { signal: stop.signal },
    );
    await expect(waiting.profile).rejects.toThrow('the person left later');
    expect(waiting.service.sent.length).toBe(1);
  });
});

describe('a service that accepts requests and never answers', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** Timeouts take no time here: each moves the clock. */
  function hang(clock: () => SleepingClock) {
    const { signal } = new AbortController();
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(signal);
    return () => {
      clock().time += timeout.mock.lastCall?.[0] ?? 0;
      return lostConnection();
    };
  }

  test('a request that hangs is repeated after 10 s', async () => {
    const hangs = hang(() => made.clock);
    const made = makeClient((_, index) => (index < 2 ? hangs() : json(200, { data: PROFILE })));
    await made.store.replace('grt_1', null, tokens(1, made.clock.now()));
    const started = made.clock.now();
    expect(await made.client.connection('grt_1').profile()).toEqual(PROFILE);
    expect(made.clock.now() - started).toBe(20_000 + 125 + 250);
  });

  test.each([
    [30_000, 30_000],
    [120_000, 90_000],
    [10_000, 1_000],
  ])(
    'a refresh that hangs is repeated, and never later than the service knows its pair: timeout %i, budget %i',
    async (timeoutMs, retryBudgetMs) => {
      const hangs = hang(() => made.clock);
      const presented: number[] = [];
      const options = { timeoutMs, retryBudgetMs };
      const made = makeClient(
        ({ url }) => {
          if (url.pathname !== '/oauth/token') return json(200, { data: PROFILE });
          presented.push(made.clock.now() - started);
          return presented.length < 4 ? hangs() : json(200, tokenAnswer(2));
        },
        { options },
      );
      await made.store.replace('grt_1', null, tokens(1, made.clock.now() - 3_600_000));
      const started = made.clock.now();
      expect(await made.client.connection('grt_1').profile()).toEqual(PROFILE);
      expect(presented.length).toBe(4);
      expect(presented.at(-1)).toBeLessThan(60_000);
    },
  );
});

describe('the address', () => {
  test.each([
    '@evil.example/',
    '.evil.example/',
    ':8443/',
    'evil',
    '/../../elsewhere',
    '/%2e%2e/%2e%2e/x',
    '\\evil',
  ])('the token is not sent outside the base address: %s', async (path) => {
    const baseUrl = 'https://health.example/phds';
    const made = makeClient(() => json(200, {}), { options: { baseUrl } });
    await made.store.replace('grt_1', null, tokens(1, made.clock.now()));
    const connection = made.client.connection('grt_1');
    await expect(connection.get(path)).rejects.toMatchObject({ code: 'INVALID_REQUEST', status: null });
    await expect(connection.list(path).page()).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(made.service.sent).toEqual([]);
  });
});

describe('errors', () => {
  test('an error names the parameters at fault and the scope to ask for', async () => {
    const errors = [{ parameter: 'from', message: 'not a date' }];
    const invalid = await readProfile([() => problem(400, 'INVALID_REQUEST', { errors })]);
    await expect(invalid.profile).rejects.toMatchObject({
      errors,
      message: expect.stringContaining('from: not a date'),
    });
    const refused = await readProfile([
      () => problem(403, 'INSUFFICIENT_SCOPE', { requiredScope: 'read:profile' }),
    ]);
    await expect(refused.profile).rejects.toMatchObject({
      requiredScope: 'read:profile',
      needsNewApproval: true,
    });
  });

  test('an error of a proxy in between is UNEXPECTED_ANSWER with its status', async () => {
    const { profile } = await readProfile([() => new Response('<html>', { status: 404 })]);
    await expect(profile).rejects.toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      status: 404,
      needsNewApproval: false,
    });
    const page = await readProfile([() => new Response('<html>', { status: 200 })]);
    await expect(page.profile).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 200 });
  });
});
