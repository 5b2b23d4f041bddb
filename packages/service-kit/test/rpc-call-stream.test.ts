import { toBinary } from '@bufbuild/protobuf';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ReadResponseSchema } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { shared } from '@phds/test-kit/shared';
import { startTcpProxy } from '@phds/test-kit/tcp-proxy';
import { currentDeadline } from '../src/deadline.ts';
import { AppError, type Reason } from '../src/errors.ts';
import { ASSERTION_METADATA } from '../src/rpc/context.ts';
import {
  openStreams,
  openUnary,
  type ReadOutcome,
  type Respond,
  sendReads,
  serve,
  whenOpen,
} from './call-stream-service.ts';

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
const streams = shared.use(openStreams([server.rpcPort]));
beforeEach(() => {
  respond = echo;
});

function textOf(outcome: ReadOutcome | undefined): string {
  if (outcome === undefined || outcome instanceof Error) throw outcome ?? new Error('no outcome');
  return Buffer.from(outcome.body).toString();
}

const named = (requestId: string) => ({ request: { requestId } });

describe('calls of one message', () => {
  test('are answered byte for byte as by the unary rpc, each with its own response', async () => {
    using unary = openUnary([server.rpcPort]);
    const names = Array.from({ length: 64 }, (_, index) => `req_${index}`);
    const alone = await Promise.all(names.map((requestId) => unary.read({ requestId })));
    const together = await Promise.all(sendReads(await whenOpen(streams), names.map(named)));
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
    using unary = openUnary([server.rpcPort]);
    const names = REASONS.flatMap((reason) => [`before ${reason}`, reason, `after ${reason}`]);
    const outcomes = await Promise.all(sendReads(await whenOpen(streams), names.map(named)));
    for (const [index, name] of names.entries()) {
      if (!REASONS.includes(name as Reason)) expect(textOf(outcomes[index])).toBe(name);
      else {
        const alone = await unary.read({ requestId: name }).catch((error: unknown) => error as AppError);
        expect(alone).toBeInstanceOf(AppError);
        expect({ ...outcomes[index] }).toEqual({ ...alone });
        expect((outcomes[index] as AppError).message).toBe((alone as AppError).message);
      }
    }
  });

  test('fail alone when a request cannot be encoded', async () => {
    const impossible = { request: { parameters: { page: { page: -1 } } } } as never;
    const calls = [named('before'), impossible, named('after')];
    const [before, bad, after] = await Promise.all(sendReads(await whenOpen(streams), calls));
    expect([textOf(before), textOf(after)]).toEqual(['before', 'after']);
    expect(bad).toMatchObject({ reason: 'internal' });
  });

  test('fail alone when an assertion contains characters that no metadata can', async () => {
    const calls = [named('before'), { request: {}, assertion: 'a\u0001b' }, named('after')];
    const [before, bad, after] = await Promise.all(sendReads(await whenOpen(streams), calls));
    expect([textOf(before), textOf(after)]).toEqual(['before', 'after']);
    expect(bad).toMatchObject({ reason: 'internal', message: '' });
  });

  test('fail alone when a response is larger than any message', async () => {
    respond = async (request, context) => {
      if (request.requestId === 'huge') return { body: new Uint8Array(15 * 1024 * 1024 + 1) };
      if (request.requestId === 'large') return { body: new Uint8Array(3 * 1024 * 1024) };
      return echo(request, context);
    };
    const names = ['small', 'huge', ...Array(8).fill('large')];
    const outcomes = await Promise.all(sendReads(await whenOpen(streams), names.map(named)));
    expect(textOf(outcomes[0])).toBe('small');
    expect(outcomes[1]).toMatchObject({
      reason: 'internal',
      message: 'A message exceeds the size limit of the services.',
    });
    expect(outcomes.slice(2).map((outcome) => textOf(outcome).length)).toEqual(
      Array(8).fill(3 * 1024 * 1024),
    );
  });

  test('do not wait for a slow one', async () => {
    const release = Promise.withResolvers<void>();
    respond = async (request, context) => {
      if (request.requestId === 'slow') await release.promise;
      return echo(request, context);
    };
    const [first, slow, last] = sendReads(await whenOpen(streams), ['first', 'slow', 'last'].map(named));
    expect([textOf(await first), textOf(await last)]).toEqual(['first', 'last']);
    const [later] = sendReads(await whenOpen(streams), [named('later')]);
    expect(textOf(await later)).toBe('later');
    release.resolve();
    expect(textOf(await slow)).toBe('slow');
  });

  test('each have their own assertion', async () => {
    respond = async (_, context) => ({ etag: context.findMetadata(ASSERTION_METADATA) ?? 'none' });
    const calls = ['a.b.c', 'd.e.f', ''].map((assertion) => ({ request: {}, assertion }));
    const outcomes = await Promise.all(sendReads(await whenOpen(streams), calls));
    expect(outcomes.map((outcome) => !(outcome instanceof Error) && outcome.etag)).toEqual([
      'a.b.c',
      'd.e.f',
      'none',
    ]);
  });
});

describe('the deadline of a call', () => {
  test('belongs to that call alone: the handler sees its remaining time, and is notified when it ends', async () => {
    const seen = new Map<string, number>();
    const ended = Promise.withResolvers<void>();
    const held = { abandon: () => ended.resolve() };
    respond = async ({ requestId }, { signal }) => {
      const deadline = currentDeadline();
      seen.set(requestId, deadline?.remainingMs() ?? 0);
      if (requestId === 'patient') return {};
      deadline?.hold(held);
      await ended.promise;
      expect([signal.aborted, deadline?.remainingMs()]).toEqual([true, 0]);
      return {};
    };
    const since = performance.now();
    const [short, patient] = sendReads(await whenOpen(streams), [
      { request: { requestId: 'short' }, timeoutMs: 200 },
      { request: { requestId: 'patient' }, timeoutMs: 15_000 },
    ]);
    expect(await short).toMatchObject({ reason: 'unavailable', retryAfterSeconds: 1 });
    await ended.promise;
    // Not only with the stream, after 30 seconds.
    expect(performance.now() - since).toBeLessThan(15_000);
    expect(await patient).not.toBeInstanceOf(Error);
    expect(seen.get('short')).toBeLessThanOrEqual(200);
    expect(seen.get('patient')).toBeGreaterThan(10_000);
  });

  test('ends at once in a service that reads the call only after its caller has given up', async () => {
    const seen = Promise.withResolvers<number>();
    respond = async () => {
      const since = performance.now();
      currentDeadline()?.hold({ abandon: () => seen.resolve(performance.now() - since) });
      await seen.promise;
      return {};
    };
    await using proxy = await startTcpProxy(`http://127.0.0.1:${server.rpcPort}`);
    using hung = openStreams([proxy.port], { renewMs: 600_000 });
    const stream = await whenOpen(hung);
    proxy.set({ kind: 'hold' });
    const [late] = sendReads(stream, [{ request: {}, timeoutMs: 2_000 }]);
    // Also when the stream is replaced meanwhile.
    stream.close();
    expect(await late).toMatchObject({ reason: 'unavailable' });
    proxy.set({ kind: 'pass' });
    expect(await seen.promise).toBeLessThan(1_000);
  });

  test('is at most that of any rpc', async () => {
    let seenMs = Number.POSITIVE_INFINITY;
    respond = async () => {
      seenMs = currentDeadline()?.remainingMs() ?? seenMs;
      return {};
    };
    await Promise.all(sendReads(await whenOpen(streams), [{ request: {}, timeoutMs: 86_400_000 }]));
    expect(seenMs).toBeLessThanOrEqual(30_000);
  });
});

test('calls beyond the limit of a stream are refused as unavailable, and later ones are answered', async () => {
  const release = Promise.withResolvers<void>();
  respond = async (request, context) => {
    await release.promise;
    return echo(request, context);
  };
  // Not replaced while its calls are counted, however long that takes.
  using own = openStreams([server.rpcPort], { renewMs: 600_000 });
  const stream = await whenOpen(own);
  const outcomes = sendReads(
    stream,
    Array.from({ length: 10_001 }, (_, index) => named(String(index))),
  );
  expect(await outcomes.at(-1)).toMatchObject({ reason: 'unavailable' });
  release.resolve();
  expect(textOf(await outcomes[9_999])).toBe('9999');
  const [later] = sendReads(stream, [named('later')]);
  expect(textOf(await later)).toBe('later');
});
