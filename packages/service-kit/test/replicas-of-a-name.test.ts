import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { eventually } from '@phds/test-kit/conditions';
import { startNameServer } from '@phds/test-kit/name-server';
import { describeWith } from '@phds/test-kit/requirements';
import { openRpcChannel } from '../src/rpc/client.ts';
import { connection } from './read-service.ts';
import { keepCalling, startReplica } from './replica-load.ts';

// With this switch, grpc-js asks the server that an address names. It reads the environment only when it is loaded, which another
// file of this process may have done.
const SWITCH = 'GRPC_NODE_USE_ALTERNATIVE_RESOLVER';
const environment = createRequire(import.meta.url)('@grpc/grpc-js/build/src/environment.js');
beforeAll(() => {
  expect(environment[SWITCH]).toBe(false);
  environment[SWITCH] = true;
});
afterAll(() => {
  environment[SWITCH] = false;
});

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
