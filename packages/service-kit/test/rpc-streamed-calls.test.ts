import { expect, test } from '@jest/globals';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { eventually } from '@phds/test-kit/conditions';
import { implement } from '../src/rpc/service.ts';
import { createStreamedCalls } from '../src/rpc/streamed-calls.ts';
import {
  connection,
  openStreams,
  openUnary,
  type ReadStreams,
  serve,
  whenOpen,
} from './call-stream-service.ts';

const { read: method } = HealthDataService.method;
const old = implement as (...parts: readonly object[]) => ReturnType<typeof implement>;

/** A replica of a release without the streams. */
function serveOld() {
  const respond = async () => ({ etag: 'old' });
  return serve(respond, { services: [old(HealthDataService, { read: respond }, { read: ['gateway'] })] });
}

function callOver(streams: ReadStreams, unary: ReturnType<typeof openUnary>['read']) {
  return createStreamedCalls({ method, unary, streams, deadlineMs: 20_000, batches: () => 1 });
}

test.each([
  ['is tried again only at the next renewal', { renewMs: 600_000, retryMs: 1 }, 1],
  ['is reported once, however often it is tried', { renewMs: 1, retryMs: 1 }, 20],
])(
  'a stream to a service of a release without it %s, and its calls are unary',
  async (_, times, attempts) => {
    await using server = await serveOld();
    using unary = openUnary([server.rpcPort]);
    const failures: unknown[] = [];
    let opened = 0;
    const tokens = async (audience: string) => {
      opened += 1;
      return connection([]).tokens(audience);
    };
    const onFailure = (error: unknown) => void failures.push(error);
    using streams = openStreams([server.rpcPort], { ...times, tokens, onFailure });
    const call = callOver(streams, unary.read);
    await eventually(() => failures.length > 0 && opened >= attempts);
    for (let index = 0; index < 20; index += 1)
      expect(await call({ request: {} })).toMatchObject({ etag: 'old' });
    expect(failures).toHaveLength(1);
    if (attempts === 1) expect(opened).toBe(1);
  },
);

test('beside a replica of a release without the stream, calls go over that of the other one', async () => {
  await using before = await serveOld();
  await using after = await serve(async () => ({ etag: 'new' }));
  using unary = openUnary([before.rpcPort]);
  using streams = openStreams([before.rpcPort, after.rpcPort], { renewMs: 1 });
  await whenOpen(streams);
  const call = callOver(streams, unary.read);
  expect(await call({ request: {} })).toMatchObject({ etag: 'new' });
});
