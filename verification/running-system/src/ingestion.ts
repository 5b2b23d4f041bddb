import { type DescMethodUnary, fromJson, type JsonValue, type Message, toJson } from '@bufbuild/protobuf';
import { IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { Stack } from '@phds/local-stack/stack';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import { REASON_METADATA } from '@phds/service-kit/rpc/context';

/** A reading in the JSON form of the ingestion rpc; instants are RFC 3339. */
interface ReadingJson {
  readonly type: string;
  readonly start: string;
  readonly end?: string;
  readonly value: number;
  readonly unit?: string;
  readonly source?: string;
}

export type CallableStack = Pick<Stack, 'rpcAddresses' | 'serviceTokens'>;

const DEADLINE_MS = 30_000;

/** Calls an rpc with the token of a service. Takes and returns the JSON forms of its messages; throws AppError. */
export async function callInternally(
  stack: CallableStack,
  call: {
    readonly service: keyof Stack['rpcAddresses'];
    readonly rpc: DescMethodUnary;
    readonly caller: Parameters<Stack['serviceTokens']>[0];
    readonly request?: object;
    /** Why an operator calls. */
    readonly reason?: string;
  },
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape, and expect() judges them
): Promise<any> {
  const { service, rpc, caller, request = {}, reason = '' } = call;
  const tokens = await stack.serviceTokens(caller);
  const address = stack.rpcAddresses[service];
  const metadata = { [REASON_METADATA]: encodeURIComponent(reason) };
  using channel = openRpcChannel({ address, audience: service, tokens, deadlineMs: DEADLINE_MS, metadata });
  const client = channel.client(rpc.parent) as Record<string, (message: Message) => Promise<Message>>;
  const answer = await client[rpc.localName]?.(fromJson(rpc.input, request as JsonValue));
  return toJson(rpc.output, answer as Message);
}

type IngestionRpc = keyof typeof IngestionService.method;

/** Calls an rpc of ingestion as importers do. */
export function ingest(stack: CallableStack, name: IngestionRpc, request: object) {
  const rpc = IngestionService.method[name];
  return callInternally(stack, { service: 'health-data', rpc, caller: 'importer', request });
}

/** Stores readings of a user. Throws when anything is refused. */
export async function ingestReadings(
  stack: CallableStack,
  userId: string,
  readings: readonly ReadingJson[],
): Promise<void> {
  const { result } = await ingest(stack, 'putReadings', {
    userId,
    readings: readings.map((reading) => ({ source: 'manual', ...reading })),
  });
  const { refusals = [] } = result;
  if (refusals.length > 0) throw new Error(`readings were refused: ${JSON.stringify(refusals)}`);
}

const START = '2026-03-01T08:00:00Z';

/** Stores one heart rate for each of these users, so that a released response differs from an empty one. Idempotent. */
export async function giveFirstReadings(stack: CallableStack, users: readonly string[]): Promise<void> {
  const reading = { type: 'Heart Rate', start: START, end: START, value: 61, source: 'synthetic' };
  for (const userId of users) await ingestReadings(stack, userId, [reading]);
}

/** Sets a user's time zone. */
export async function setTimeZone(stack: CallableStack, userId: string, timeZone: string): Promise<void> {
  await ingest(stack, 'putProfile', { userId, timeZone });
}

/** The imports of a user with their last reported state. */
export async function listImports(
  stack: CallableStack,
  userId: string,
): Promise<readonly { readonly state: string; readonly report?: string }[]> {
  return (await ingest(stack, 'listImports', { userId })).imports ?? [];
}
