import { expect, test } from '@jest/globals';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { eventually } from '@phds/test-kit/conditions';
import { stopService } from '../src/lifecycle.ts';
import { openBatched, openUnary } from './read-service.ts';
import { keepCalling, startReplica } from './replica-load.ts';

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
