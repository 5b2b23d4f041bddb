import type { DescMethodUnary, Message, MessageInitShape } from '@bufbuild/protobuf';
import type { AnswerSchema, Call } from '@phds/contracts/phds/common/v1/calls_pb';
import { invalidRequest, toAppError } from '../errors.ts';
import {
  ASSERTION_METADATA,
  REQUEST_ID_METADATA,
  type RpcContext,
  TRACEPARENT_METADATA,
  type UnaryHandler,
} from './context.ts';
import { toErrorDetail, tooLarge } from './errors.ts';
import { decode, encode } from './messages.ts';

// A batch rpc carries calls of a unary rpc in one message (proto/phds/common/v1/calls.proto), because a call of its own costs each of
// them ten times the CPU. The service answers each call as the unary rpc would, and sends the answers when all calls have theirs. So a
// call waits for the slowest of its batch, and rpcs whose calls can take long are not called this way.

/** The request of a batch rpc. */
export type CallsMessage = Message & { calls: Call[] };

/** Calls of one batch. */
export const MAX_CALLS = 64;

/** Bytes of all responses of one batch. Callers accept messages of 16 MiB. */
const MAX_RESPONSE_BYTES = 15 * 1024 * 1024;

type AnswerInit = MessageInitShape<typeof AnswerSchema>;

/** Answers the calls of a batch through the guarded handler of the unary rpc, each within its own time. */
export async function answerCalls(
  { calls }: CallsMessage,
  context: RpcContext,
  rpc: { readonly method: DescMethodUnary; readonly handler: UnaryHandler; readonly caller: string },
): Promise<{ answers: AnswerInit[] }> {
  if (calls.length > MAX_CALLS) throw invalidRequest('calls', `must be at most ${MAX_CALLS}`);
  const results = await Promise.allSettled(calls.map((call) => answerCall(call, context, rpc)));
  let room = MAX_RESPONSE_BYTES;
  const answers = results.map((result): AnswerInit => {
    if (result.status === 'rejected') return toFailure(result.reason);
    const { length } = result.value;
    if (length > room) return toFailure(tooLarge(new Error(`${length} bytes`)));
    room -= length;
    return { result: { case: 'response', value: result.value } };
  });
  return { answers };
}

function toFailure(error: unknown): AnswerInit {
  return { result: { case: 'error', value: toErrorDetail(toAppError(error)) } };
}

async function answerCall(
  { timeoutMs, assertion, request, requestId, traceparent }: Call,
  batch: RpcContext,
  { method, handler, caller }: Parameters<typeof answerCalls>[2],
): Promise<Uint8Array> {
  const context = batch.carry(method, timeoutMs, {
    [ASSERTION_METADATA]: assertion,
    [REQUEST_ID_METADATA]: requestId,
    [TRACEPARENT_METADATA]: traceparent,
  });
  const whole = { abort: () => context.cancel() };
  batch.deadline.hold(whole);
  try {
    return encode(method.output, await handler(decode(method.input, request) as never, context, caller));
  } finally {
    batch.deadline.release(whole);
  }
}
