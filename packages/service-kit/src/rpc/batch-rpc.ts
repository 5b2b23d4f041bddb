import type { DescMethodUnary, Message, MessageInitShape } from '@bufbuild/protobuf';
import type { AnswerSchema, Call } from '@phds/contracts/phds/common/v1/calls_pb';
import { invalidRequest, toAppError } from '../errors.ts';
import { withinTrace } from '../telemetry/current-origin.ts';
import { ASSERTION_METADATA, REQUEST_ID_METADATA, type RpcContext, type UnaryHandler } from './context.ts';
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

interface CarriedRpc {
  readonly method: DescMethodUnary;
  readonly handler: UnaryHandler;
  readonly caller: string;
}

/** Answers the calls of a batch through the guarded handler of the unary rpc, each within its own time. */
export async function answerCalls(
  { calls }: CallsMessage,
  batch: RpcContext,
  rpc: CarriedRpc,
): Promise<{ answers: AnswerInit[] }> {
  if (calls.length > MAX_CALLS) throw invalidRequest('calls', `must be at most ${MAX_CALLS}`);
  const contexts = calls.map((call) => toContext(call, batch, rpc));
  const whole = {
    abort: () => {
      for (const context of contexts) context.cancel();
    },
  };
  batch.deadline.hold(whole);
  const answers = await Promise.all(
    calls.map((call, index) => answer(call, contexts[index] as RpcContext, rpc)),
  );
  batch.deadline.release(whole);
  return { answers: withinLimit(answers) };
}

function toContext({ timeoutMs, assertion, requestId }: Call, batch: RpcContext, { method }: CarriedRpc) {
  return batch.carry(method, timeoutMs, {
    [ASSERTION_METADATA]: assertion,
    [REQUEST_ID_METADATA]: requestId,
  });
}

/** Never rejects. */
async function answer(
  { request, traceparent }: Call,
  context: RpcContext,
  { method, handler, caller }: CarriedRpc,
): Promise<AnswerInit> {
  try {
    const message = decode(method.input, request) as never;
    const response = await withinTrace(traceparent, () => handler(message, context, caller));
    return { result: { case: 'response', value: encode(method.output, response) } };
  } catch (error) {
    return toFailure(error);
  }
}

/** Puts an error in place of each response for which the message has no room. */
function withinLimit(answers: readonly AnswerInit[]): AnswerInit[] {
  let room = MAX_RESPONSE_BYTES;
  return answers.map((one) => {
    const length = one.result?.case === 'response' ? (one.result.value?.length ?? 0) : 0;
    if (length > room) return toFailure(tooLarge(new Error(`${length} bytes`)));
    room -= length;
    return one;
  });
}

function toFailure(error: unknown): AnswerInit {
  return { result: { case: 'error', value: toErrorDetail(toAppError(error)) } };
}
