import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { eventually } from '@phds/test-kit/conditions';
import { startNameServer } from '@phds/test-kit/name-server';
import { describeWith } from '@phds/test-kit/requirements';
import { stopService } from '../src/lifecycle.ts';
import { openRpcChannel } from '../src/rpc/client.ts';
import type { RpcServer } from '../src/rpc/server.ts';
import { connection, openBatched, openUnary, serve } from './read-service.ts';

test('a service that leaves is not ready, and answers calls until it is disposed', async () => {
  await using server = await startReplica('a', { probePort: 0 });
  using client = openUnary([server.rpcPort]);
  const readiness = async () => (await fetch(`http://127.0.0.1:${server.probePort}/readyz`)).status;
  expect(await readiness()).toBe(200);
  server.leave();
  expect(await readiness()).toBe(503);
  expect((await fetch(`http://127.0.0.1:${server.probePort}/livez`)).status).toBe(200);
  expect(await client.read({})).toMatchObject({ etag: 'a' });
});

test('batches go to the replicas in turn', async () => {
  await using server = await startReplica('a');
  await using other = await startReplica('b');
  using client = openBatched([server.rpcPort, other.rpcPort]);
  await eventually(async () => {
    const seen = [await client.read({ request: {} }), await client.read({ request: {} })];
    expect(seen.map(({ etag }) => etag).toSorted()).toEqual(['a', 'b']);
  });
});

test('calls do not go through a proxy that the environment names', async () => {
  await using server = await startReplica('a');
  process.env['https_proxy'] = 'http://127.0.0.1:1';
  try {
    using client = openUnary([server.rpcPort]);
    expect(await client.read({})).toMatchObject({ etag: 'a' });
  } finally {
    delete process.env['https_proxy'];
  }
});

test('a service that is stopped leaves, serves for the delay, and is then disposed', async () => {
  const events: string[] = [];
  const hurry = new AbortController();
  const service = {
    leave: () => void events.push('leaves'),
    [Symbol.asyncDispose]: async () => void events.push('disposed'),
  };
  const onDisposal = () => void events.push('delay is over');
  const stopping = stopService(service, { delayMs: 300_000, signal: hurry.signal, onDisposal });
  expect(events).toEqual(['leaves']);
  hurry.abort();
  await stopping;
  expect(events).toEqual(['leaves', 'delay is over', 'disposed']);
});

test('no call is lost while two replicas restart in turn under load', async () => {
  await using cleanup = new AsyncDisposableStack();
  const ports = [await leasePort(), await leasePort()];
  const servers = await Promise.all(ports.map((rpcPort) => startReplica('first', { rpcPort })));
  cleanup.defer(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });
  const { read } = cleanup.use(openUnary(ports));
  const load = keepCalling(read, 8);
  for (let round = 0; round < 4; round += 1) {
    const index = round % 2;
    await servers[index]?.[Symbol.asyncDispose]();
    servers[index] = await startReplica(`restart ${round}`, { rpcPort: ports[index] as number });
    await eventually(async () => (await read({})).etag === `restart ${round}`);
    await load.more(20);
  }
  expect(await load.stop()).toEqual([]);
});

type Read = ReturnType<typeof openUnary>['read'];

/** Answers with its name. */
function startReplica(etag: string, options: Parameters<typeof serve>[1] = {}): Promise<RpcServer> {
  return serve(async () => ({ etag }), options);
}

/** Keeps calls running until one fails or it is stopped, and then returns the errors. */
function keepCalling(read: Read, parallel: number) {
  const errors: unknown[] = [];
  const load = { calls: 0, isOver: false };
  const callInTurn = async () => {
    while (!load.isOver && errors.length === 0) {
      await read({}).catch((error: unknown) => errors.push(error));
      load.calls += 1;
    }
  };
  const running = Array.from({ length: parallel }, callInTurn);
  return {
    /** Waits until so many calls more have ended. */
    more: (count: number, before = load.calls) =>
      eventually(() => load.calls > before + count || errors.length > 0),
    stop: async () => {
      load.isOver = true;
      await Promise.all(running);
      return errors;
    },
  };
}

// With this switch, grpc-js asks the server that an address names. It reads the environment only when it is loaded, which another
// file of this process may have done.
const SWITCH = 'GRPC_NODE_USE_ALTERNATIVE_RESOLVER';
const environment = createRequire(import.meta.url)('@grpc/grpc-js/build/src/environment.js');

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
  beforeAll(() => {
    expect(environment[SWITCH]).toBe(false);
    environment[SWITCH] = true;
  });
  afterAll(() => {
    environment[SWITCH] = false;
  });

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
