import type { MessageInitShape } from '@bufbuild/protobuf';
import { HealthDataService, type ReadRequest } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { eventually } from '@phds/test-kit/conditions';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import type { Clock } from '../src/clock.ts';
import type { AppError } from '../src/errors.ts';
import { CallStream } from '../src/rpc/call-stream.ts';
import { type CallStreamsOptions, openCallStreams } from '../src/rpc/call-streams.ts';
import { openRpcChannel, type RpcChannelOptions } from '../src/rpc/client.ts';
import type { RpcContext } from '../src/rpc/context.ts';
import { type RpcServer, type RpcServerOptions, startRpcServer } from '../src/rpc/server.ts';
import { implement } from '../src/rpc/service.ts';
import { createLogger } from '../src/telemetry/log.ts';
import { createServiceTokenSource, createServiceTokenVerifier } from '../src/trust/service-token.ts';

const keys = createServiceKeys(['gateway', 'importer']);
const { read, reads } = HealthDataService.method;

type Read = typeof read;
export type ReadStreams = ReturnType<typeof openCallStreams<Read['input'], Read['output']>>;
export type Respond = (
  request: ReadRequest,
  context: RpcContext,
) => Promise<{ body?: Uint8Array; etag?: string }>;

/** Starts a service whose Read responds as the test says, also over the stream. */
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

type Changes = Partial<CallStreamsOptions<Read['input'], Read['output']>>;

export function openStreams(ports: readonly number[], changes: Changes = {}): ReadStreams {
  const onFailure = () => undefined;
  const service = connection(ports);
  return openCallStreams({ ...service, method: reads, carried: read, onFailure, retryMs: 20, ...changes });
}

/** Service tokens that the test can hold back, so that no more streams are opened. */
export function createHoldableTokens() {
  const { tokens } = connection([]);
  let onHeld: (() => void) | undefined;
  return {
    tokens: (audience: string) => {
      onHeld?.();
      return onHeld === undefined ? tokens(audience) : new Promise<string>(() => undefined);
    },
    /** Resolves when a renewal of the streams waits for its token. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      onHeld = resolve;
      return promise;
    },
  };
}

export function openUnary(ports: readonly number[], changes: Partial<RpcChannelOptions> = {}) {
  const channel = openRpcChannel({ ...connection(ports), ...changes });
  return { read: channel.client(HealthDataService).read, [Symbol.dispose]: () => channel[Symbol.dispose]() };
}

/** The first open stream, once there are `count`. */
export async function whenOpen(streams: ReadStreams, count = 1): Promise<ReadStreams['open'][number]> {
  await eventually(() => streams.open.length === count);
  const [stream] = streams.open;
  if (!(stream instanceof CallStream)) throw new Error('no stream');
  return stream;
}

export interface SentRead {
  readonly request: MessageInitShape<Read['input']>;
  readonly assertion?: string;
  readonly timeoutMs?: number;
}

/** Sends the reads in one message. An outcome is the response or the error. */
export function sendReads(
  stream: ReadStreams['open'][number],
  calls: readonly SentRead[],
): Promise<ReadOutcome>[] {
  const outcomes = calls.map(() => Promise.withResolvers<ReadOutcome>());
  stream.send(
    calls.map(({ timeoutMs = 20_000, ...call }, index) => ({
      ...call,
      timeoutMs,
      resolve: (response) => outcomes[index]?.resolve(response),
      reject: (error) => outcomes[index]?.resolve(error),
    })),
  );
  return outcomes.map(({ promise }) => promise);
}

export type ReadOutcome = Awaited<ReturnType<ReturnType<typeof openUnary>['read']>> | AppError;
