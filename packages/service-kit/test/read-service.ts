import {
  HealthDataService,
  type ReadRequest,
  type ReadResponse,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import type { Clock } from '../src/clock.ts';
import { AppError } from '../src/errors.ts';
import { type BatchedCallsOptions, createBatchedCalls } from '../src/rpc/batch-rpc.ts';
import { openRpcChannel, type RpcChannelOptions } from '../src/rpc/client.ts';
import type { RpcContext } from '../src/rpc/context.ts';
import { type RpcServer, type RpcServerOptions, startRpcServer } from '../src/rpc/server.ts';
import { implement } from '../src/rpc/service.ts';
import { createLogger } from '../src/telemetry/log.ts';
import { createServiceTokenSource, createServiceTokenVerifier } from '../src/trust/callers.ts';

const keys = createServiceKeys(['gateway', 'importer']);

type Read = (typeof HealthDataService)['method']['read'];
export type Respond = (
  request: ReadRequest,
  context: RpcContext,
) => Promise<{ body?: Uint8Array; etag?: string }>;

/** Starts a service whose Read responds as the test says, also in batches. */
export function serve(
  respond: Respond,
  { clock, ...options }: Partial<RpcServerOptions> & { readonly clock?: Clock } = {},
): Promise<RpcServer> {
  return startRpcServer({
    services: [implement(HealthDataService, { read: respond }, { read: ['gateway'] }, { reads: 'read' })],
    verifyCaller: createServiceTokenVerifier({
      service: 'health-data',
      publicKeys: keys.jwks,
      ...(clock && { clock }),
    }),
    log: createLogger({ service: 'health-data', level: 'silent' }),
    host: '127.0.0.1',
    rpcPort: 0,
    probePort: null,
    health: async () => true,
    ...options,
  });
}

/** How `caller` connects to services on these ports. */
export function connection(ports: readonly number[], caller = 'gateway', clock?: Clock): RpcChannelOptions {
  const privateKeyPem = keys.pem(caller);
  return {
    address: `ipv4:${ports.map((port) => `127.0.0.1:${port}`).join(',')}`,
    audience: 'health-data',
    tokens: createServiceTokenSource({ service: caller, privateKeyPem, ...(clock && { clock }) }),
    deadlineMs: 20_000,
  };
}

export function openUnary(ports: readonly number[], changes: Partial<RpcChannelOptions> = {}) {
  const channel = openRpcChannel({ ...connection(ports), ...changes });
  const { read, reads } = channel.client(HealthDataService);
  return { read, reads, [Symbol.dispose]: () => channel[Symbol.dispose]() };
}

type Changes = Partial<RpcChannelOptions & BatchedCallsOptions<Read['input'], Read['output']>>;

/** Calls Read in batches. What is called in one turn of the event loop is in one batch. */
export function openBatched(ports: readonly number[], changes: Changes = {}) {
  const client = openUnary(ports, changes);
  const { method } = HealthDataService;
  const read = createBatchedCalls({
    method: method.read,
    batch: client.reads,
    deadlineMs: 20_000,
    ...changes,
  });
  return {
    read,
    /** An outcome is the response or the error. */
    readAll: (requestIds: readonly string[]) =>
      Promise.all(requestIds.map((requestId) => outcomeOf(read({ request: { requestId } })))),
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

export type ReadOutcome = ReadResponse | AppError;

export function outcomeOf(answer: Promise<ReadResponse>): Promise<ReadOutcome> {
  return answer.catch((error: unknown) => {
    if (error instanceof AppError) return error;
    throw error;
  });
}
