import { beforeEach, describe, expect, test } from '@jest/globals';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { shared } from '@phds/test-kit/shared';
import { batchingCalls } from '../src/batcher.ts';
import {
  nameRequests,
  toCarriedIds,
  toLogFields,
  withinOrigin,
  withoutDeadline,
} from '../src/current-work.ts';
import { AppError } from '../src/errors.ts';
import { openRpcChannel } from '../src/rpc/client.ts';
import { createLogger } from '../src/telemetry/log.ts';
import { connection, openBatched, type Respond, serve } from './read-service.ts';

const OF_ADA = { requestIds: ['req_ada'], trace: undefined };
const OF_BERT = { requestIds: ['req_bert'], trace: undefined };

let respond: Respond;
let lines: string[] = [];

const log = createLogger({
  service: 'health-data',
  level: 'debug',
  destination: { write: (line) => void lines.push(line) },
});

const server = shared.use(await serve((request, context) => respond(request, context), { log }));
const batched = shared.use(openBatched([server.rpcPort]));
beforeEach(() => {
  lines = [];
  respond = async () => ({});
});

async function readUnary(): Promise<unknown> {
  using channel = openRpcChannel(connection([server.rpcPort]));
  return await channel.client(HealthDataService).read({});
}

const readInBatch = () => batched.read({ request: {} });

const logged = () => lines.map((line) => JSON.parse(line));

describe.each([
  ['a unary call', readUnary],
  ['a call in a batch', readInBatch],
])('%s', (_way, read) => {
  test('brings the id of the request to every line that the called service logs for it', async () => {
    respond = async () => {
      log.info('own line');
      return {};
    };
    await withinOrigin(OF_ADA, read);
    expect(logged()).toMatchObject([
      { msg: 'own line', requestId: 'req_ada' },
      { msg: 'rpc answered', requestId: 'req_ada' },
    ]);
  });

  test('that fails is logged with the id', async () => {
    respond = () => Promise.reject(new AppError('unavailable'));
    await expect(withinOrigin(OF_ADA, read)).rejects.toThrow();
    expect(logged()).toMatchObject([{ msg: 'rpc refused', requestId: 'req_ada' }]);
  });

  test('outside of a request is logged without one', async () => {
    await read();
    expect(logged()).toHaveLength(1);
    expect(lines[0]).not.toMatch(/requestId|traceId/);
  });
});

test('a call that is made for a call has the same request', async () => {
  respond = async () => ({ etag: toCarriedIds() });
  await expect(withinOrigin(OF_ADA, readInBatch)).resolves.toMatchObject({ etag: 'req_ada' });
});

test('text that is no id of a request is not logged', async () => {
  const requestIds = ['req_ada', 'two words', '', 'x'.repeat(65), '{"level":"fatal"}'];
  await withinOrigin({ requestIds, trace: undefined }, readInBatch);
  expect(logged()).toMatchObject([{ requestId: 'req_ada' }]);
});

test('a service that finds the requests in the message names all of them', async () => {
  respond = () => {
    nameRequests(() => ['req_ada', 'req_bert']);
    return Promise.reject(new AppError('unavailable'));
  };
  await expect(readUnary()).rejects.toThrow();
  expect(logged()).toMatchObject([{ requestIds: ['req_ada', 'req_bert'] }]);
});

test('a call for several requests names all of them once, and one for a single request only that', async () => {
  const call = batchingCalls(async (items: readonly string[]) => {
    const fields = toLogFields();
    return items.map(() => fields);
  });
  const first = [OF_ADA, OF_BERT, OF_ADA].map((origin) => withinOrigin(origin, () => call('item')));
  const both = { requestIds: ['req_ada', 'req_bert'] };
  expect(await Promise.all(first)).toEqual([both, both, both]);
  expect(await withinOrigin(OF_BERT, () => call('item'))).toEqual({ requestId: 'req_bert' });
  expect(await call('item')).toEqual({});
});

test('work that outlives its caller keeps the request', () => {
  expect(withinOrigin(OF_ADA, () => withoutDeadline(toLogFields))).toEqual({ requestId: 'req_ada' });
});
