import { once } from 'node:events';
import { toBinary } from '@bufbuild/protobuf';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ReadResponseSchema } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import { startTcpProxy } from '@phds/test-kit/tcp-proxy';
import { currentDeadline, Deadline, withinDeadline } from '../src/current-work.ts';
import { AppError, type Reason } from '../src/errors.ts';
import { ASSERTION_METADATA } from '../src/rpc/context.ts';
import {
  connection,
  openBatched,
  openUnary,
  outcomeOf,
  type ReadOutcome,
  type Respond,
  serve,
} from './read-service.ts';

const REASONS: readonly Reason[] = [
  'internal',
  'unavailable',
  'unauthorized',
  'token_expired',
  'assertion_stale',
  'insufficient_scope',
  'consent_required',
  'invalid_request',
  'not_found',
  'rate_limited',
  'access_not_recorded',
];

const echo: Respond = async ({ requestId }) => ({ body: Buffer.from(requestId), etag: `"${requestId}"` });

let respond: Respond = echo;

const server = shared.use(await serve((request, context) => respond(request, context)));
const unary = shared.use(openUnary([server.rpcPort]));
const batched = shared.use(openBatched([server.rpcPort]));
beforeEach(() => {
  respond = echo;
});

function textOf(outcome: ReadOutcome | undefined): string {
  if (outcome === undefined || outcome instanceof Error) throw outcome ?? new Error('no outcome');
  return Buffer.from(outcome.body).toString();
}

describe('calls of one batch', () => {
  test('are answered byte for byte as by the unary rpc, each with its own response', async () => {
    const names = Array.from({ length: 64 }, (_, index) => `req_${index}`);
    const alone = await Promise.all(names.map((requestId) => unary.read({ requestId })));
    const together = await batched.readAll(names);
    const bytesOf = (outcome: ReadOutcome) => {
      if (outcome instanceof Error) throw outcome;
      return toBinary(ReadResponseSchema, outcome);
    };
    expect(together.map(bytesOf)).toEqual(alone.map(bytesOf));
    expect(together.map(textOf)).toEqual(names);
  });

  test('fail alone: an error of every kind in the middle arrives as from the unary rpc, and the others are answered', async () => {
    respond = async (request, context) => {
      const reason = REASONS.find((name) => name === request.requestId);
      if (reason === undefined) return echo(request, context);
      throw new AppError(reason, `${reason} text`, {
        violations: [{ parameter: 'page', message: 'no' }],
        requiredScope: 'read:mood',
        retryAfterSeconds: 7,
        cause: new Error('never sent'),
      });
    };
    const names = REASONS.flatMap((reason) => [`before ${reason}`, reason, `after ${reason}`]);
    const outcomes = await batched.readAll(names);
    for (const [index, name] of names.entries()) {
      if (!REASONS.includes(name as Reason)) expect(textOf(outcomes[index])).toBe(name);
      else {
        const alone = await outcomeOf(unary.read({ requestId: name }));
        expect(alone).toBeInstanceOf(AppError);
        expect({ ...outcomes[index] }).toEqual({ ...alone });
        expect((outcomes[index] as AppError).message).toBe((alone as AppError).message);
      }
    }
  });

  test('fail alone when a request cannot be encoded', async () => {
    const impossible = { parameters: { page: { page: -1 } } } as never;
    const [before, bad, after] = await Promise.all([
      batched.read({ request: { requestId: 'before' } }),
      batched.read({ request: impossible }).catch(String),
      batched.read({ request: { requestId: 'after' } }),
    ]);
    expect([textOf(before), textOf(after)]).toEqual(['before', 'after']);
    expect(bad).toMatch(/page/);
  });

  test('fail alone when their responses exceed a message together', async () => {
    respond = async (request, context) => {
      if (request.requestId === 'large') return { body: new Uint8Array(8 * 1024 * 1024) };
      return echo(request, context);
    };
    const [small, large, excess, last] = await batched.readAll(['small', 'large', 'large', 'last']);
    expect([textOf(small), textOf(large).length, textOf(last)]).toEqual(['small', 8 * 1024 * 1024, 'last']);
    expect(excess).toMatchObject({
      reason: 'internal',
      message: 'A message exceeds the size limit of the services.',
    });
  });

  test('each have their own assertion', async () => {
    respond = async (_, context) => ({ etag: context.findMetadata(ASSERTION_METADATA) ?? 'none' });
    const answers = ['a.b.c', 'd.e.f', ''].map((assertion) => batched.read({ request: {}, assertion }));
    expect((await Promise.all(answers)).map(({ etag }) => etag)).toEqual(['a.b.c', 'd.e.f', '']);
  });

  test('each have their own time, which is that of their callers', async () => {
    const seen = new Map<string, number>();
    respond = async (request, context) => {
      seen.set(request.requestId, currentDeadline()?.remainingMs() ?? 0);
      return echo(request, context);
    };
    const within = (ms: number, requestId: string) =>
      withinDeadline(new Deadline(ms), () => batched.read({ request: { requestId } }));
    await Promise.all([within(5_000, 'short'), within(15_000, 'long')]);
    expect(seen.get('short')).toBeLessThan(5_000);
    expect(seen.get('long')).toBeGreaterThan(5_000);
  });

  test('are at most 64, and no more are accepted', async () => {
    const calls = Array.from({ length: 65 }, () => ({ timeoutMs: 1_000 }));
    await expect(unary.reads({ calls })).rejects.toMatchObject({ reason: 'invalid_request' });
    const { answers } = await unary.reads({ calls: calls.slice(1) });
    expect(answers).toHaveLength(64);
  });

  test('fail alone when the service cannot decode them', async () => {
    const request = Uint8Array.of(0xff);
    const { answers } = await unary.reads({ calls: [{ timeoutMs: 1_000 }, { timeoutMs: 1_000, request }] });
    expect(answers.map(({ result }) => result.case)).toEqual(['response', 'error']);
  });
});

test('a caller that the unary rpc does not admit has no batch answered', async () => {
  using stranger = openBatched([server.rpcPort], connection([server.rpcPort], 'importer'));
  let calls = 0;
  respond = async () => {
    calls += 1;
    return {};
  };
  const outcomes = await stranger.readAll(['a', 'b']);
  expect(outcomes).toMatchObject(Array(2).fill({ reason: 'caller_not_admitted' }));
  expect(calls).toBe(0);
});

test('what arrives while a batch is in flight leaves together, the keys in turn', async () => {
  const batches: string[][] = [];
  const release = Promise.withResolvers<void>();
  using client = openUnary([server.rpcPort]);
  using one = openBatched([server.rpcPort], {
    batch: async (request) => {
      batches.push(request.calls.map(({ assertion }) => assertion ?? ''));
      if (batches.length === 1) await release.promise;
      return client.reads(request);
    },
  });
  const read = (key: string, assertion: string) => one.read({ request: {}, key, assertion });
  const answers = [read('busy', '1')];
  await eventually(() => batches.length === 1);
  answers.push(...['2', '3', '4'].map((name) => read('busy', name)), read('quiet', '5'));
  release.resolve();
  await Promise.all(answers);
  expect(batches).toEqual([['1'], ['2', '5', '3', '4']]);
});

test('a batch that hangs does not hold up the next one', async () => {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  respond = async (request, context) => {
    if (request.requestId !== 'hangs') return echo(request, context);
    begun.resolve();
    await release.promise;
    return echo(request, context);
  };
  const hung = batched.readAll(['hangs']);
  await begun.promise;
  expect((await batched.readAll(['next'])).map(textOf)).toEqual(['next']);
  release.resolve();
  expect((await hung).map(textOf)).toEqual(['hangs']);
});

test('the work for a batch ends when its caller is gone', async () => {
  const begun = Promise.withResolvers<void>();
  const ended: string[] = [];
  respond = async ({ requestId }, { signal }) => {
    const end = once(signal, 'abort');
    begun.resolve();
    await end;
    ended.push(requestId);
    return {};
  };
  await using proxy = await startTcpProxy(`http://127.0.0.1:${server.rpcPort}`);
  using gone = openBatched([proxy.port], { isRepeatable: () => false });
  const lost = gone.readAll(['a', 'b']);
  await begun.promise;
  await proxy.cut();
  await eventually(() => ended.length === 2);
  expect(await lost).toMatchObject(Array(2).fill({ reason: 'unavailable', retryAfterSeconds: 1 }));
});

test('calls whose connection is lost are sent once more, unless they must not be executed twice', async () => {
  const begun: string[] = [];
  respond = async (request, context) => {
    begun.push(request.requestId);
    if (begun.length <= 2) await once(context.signal, 'abort');
    return echo(request, context);
  };
  await using proxy = await startTcpProxy(`http://127.0.0.1:${server.rpcPort}`);
  using lost = openUnary([proxy.port]);
  let batches = 0;
  using client = openBatched([], {
    batch: (request) => {
      batches += 1;
      return (batches === 1 ? lost : unary).reads(request);
    },
    isRepeatable: ({ requestId }) => requestId !== 'once',
  });
  const outcomes = client.readAll(['again', 'once']);
  await eventually(() => begun.length === 2);
  await proxy.cut();
  const [again, never] = await outcomes;
  expect(textOf(again)).toBe('again');
  expect(never).toMatchObject({ reason: 'unavailable' });
  expect(begun).toEqual(['again', 'once', 'again']);
});

test('an outage that the service reports is not a lost connection, so nothing is sent again', async () => {
  let calls = 0;
  respond = async () => {
    calls += 1;
    throw new AppError('unavailable');
  };
  expect(await batched.readAll(['a'])).toMatchObject([{ reason: 'unavailable' }]);
  expect(calls).toBe(1);
});
