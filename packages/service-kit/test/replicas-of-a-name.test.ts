import { expect, test } from '@jest/globals';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { eventually } from '@phds/test-kit/conditions';
import { startNameServer } from '@phds/test-kit/name-server';
import { describeWith } from '@phds/test-kit/requirements';

// With this variable, which grpc-js reads when it is loaded, it asks the server that an address names.
process.env['GRPC_NODE_USE_ALTERNATIVE_RESOLVER'] = 'true';
const { openRpcChannel } = await import('../src/rpc/client.ts');
const { connection } = await import('./call-stream-service.ts');
const { keepCalling, startReplica } = await import('./replica-load.ts');

/** A name with one replica, `first`, and calls to it. */
async function startName(cleanup: AsyncDisposableStack, options: Parameters<typeof startReplica>[1] = {}) {
  const names = cleanup.use(await startNameServer());
  const rpcPort = await leasePort();
  const first = cleanup.use(await startReplica('first', { host: '127.0.0.2', rpcPort, ...options }));
  names.set('health-data', ['127.0.0.2']);
  const address = names.toAddress('health-data', rpcPort);
  const channel = cleanup.use(openRpcChannel({ ...connection([]), address }));
  const { read } = channel.client(HealthDataService);
  const load = keepCalling(read, 4);
  cleanup.defer(async () => void (await load.stop()));
  await load.more(20);
  const join = async () => cleanup.use(await startReplica('second', { host: '127.0.0.3', rpcPort }));
  return { names, first, read, load, join };
}

// The replicas listen on 127.0.0.2 and 127.0.0.3, which only Linux has without configuration.
describeWith('Linux', process.platform === 'linux')('callers of a name', () => {
  test('find a replica that joined it as soon as another one leaves, and lose no call when it stops', async () => {
    await using cleanup = new AsyncDisposableStack();
    const { names, first, read, load, join } = await startName(cleanup);
    await join();
    names.set('health-data', ['127.0.0.3']);
    await load.more(20);
    // A name is not resolved again while its connections last.
    expect(await read({})).toMatchObject({ etag: 'first' });
    first.leave();
    await eventually(async () => (await read({})).etag === 'second');
    await first[Symbol.asyncDispose]();
    await load.more(20);
    expect(await load.stop()).toEqual([]);
  });

  test('find a replica that joined it when a connection reaches its age', async () => {
    await using cleanup = new AsyncDisposableStack();
    const connectionAge = { maxMs: 1_500, graceMs: 30_000 };
    const { names, read, load, join } = await startName(cleanup, { connectionAge });
    await join();
    names.set('health-data', ['127.0.0.2', '127.0.0.3']);
    await eventually(async () => (await read({})).etag === 'second');
    expect(await load.stop()).toEqual([]);
  });
});
