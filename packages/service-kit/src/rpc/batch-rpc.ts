import {
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { context } from '@opentelemetry/api';
import type { Answer, AnswerSchema, Call, CallSchema } from '@phds/contracts/phds/common/v1/calls_pb';
import { Batcher } from '../batcher.ts';
import { currentTraceparent, Deadline, toCarriedIds, withinOrigin, withinTrace } from '../current-work.ts';
import { AppError, invalidRequest, toAppError } from '../errors.ts';
import { toTimeLeft } from './client.ts';
import { ASSERTION_METADATA, REQUEST_ID_METADATA, type RpcContext, type UnaryHandler } from './context.ts';
import { fromErrorDetail, isConnectionLost, toErrorDetail, tooLarge } from './errors.ts';
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

/** A call of an rpc that a batch rpc carries. */
interface CarriedCall<I extends DescMessage> {
  readonly request: MessageInitShape<I>;
  /** The access assertion, for rpcs that require one. */
  readonly assertion?: string;
  /** Whose the call is; see Batcher. Default: all are of one. */
  readonly key?: string;
  /** Whether somebody still waits for the answer. Default: until the deadline. */
  readonly isWanted?: () => boolean;
}

export interface BatchedCallsOptions<I extends DescMessage, O extends DescMessage> {
  /** The carried rpc. */
  readonly method: DescMethodUnary<I, O>;
  /** The batch rpc. */
  readonly batch: (request: {
    calls: MessageInitShape<typeof CallSchema>[];
  }) => Promise<{ answers: Answer[] }>;
  /** Time limit of a call, in milliseconds. */
  readonly deadlineMs: number;
  /** Maximum number of batches in flight while so many calls wait, slow ones aside. Default 1. */
  readonly atOnce?: (waiting: number) => number;
  /** Whether a call may be executed twice. Default: it may. */
  readonly isRepeatable?: (request: MessageInitShape<I>) => boolean;
}

interface Waiting<I extends DescMessage> extends CarriedCall<I> {
  readonly bytes: Uint8Array;
  readonly deadline: Deadline;
  readonly requestId: string;
  readonly traceparent: string;
}

/** After this many milliseconds, a batch without an answer no longer delays the next ones, which other replicas get. */
const SLOW_BATCH_MS = 100;

/**
 * Calls a unary rpc by its batch rpc: what arrives while earlier batches are in flight leaves together. Rejects with the errors of the
 * unary rpc. When the connection fails, calls that may be executed twice are sent once more.
 */
export function createBatchedCalls<I extends DescMessage, O extends DescMessage>(
  options: BatchedCallsOptions<I, O>,
): (call: CarriedCall<I>) => Promise<MessageShape<O>> {
  const { method, batch, deadlineMs, atOnce, isRepeatable } = options;

  const send = async (calls: readonly Waiting<I>[]): Promise<readonly Answer[]> => {
    const { answers } = await batch({ calls: calls.map(toMessage) });
    // Answers that cannot be assigned to their calls belong to nobody.
    if (answers.length !== calls.length)
      throw new AppError('internal', '', { cause: new Error('not one answer for each call') });
    return answers;
  };
  const isWorthRepeating = ({ request, deadline, isWanted }: Waiting<I>) =>
    isRepeatable?.(request) !== false && deadline.remainingMs() > 0 && isWanted?.() !== false;

  const run = async (calls: readonly Waiting<I>[]): Promise<readonly (Answer | AppError)[]> => {
    try {
      return await send(calls);
    } catch (error) {
      const again = isConnectionLost(error) ? calls.filter(isWorthRepeating) : [];
      if (!isConnectionLost(error) || again.length === 0) throw error;
      const answers = await send(again);
      return calls.map((call) => answers[again.indexOf(call)] ?? error);
    }
  };
  const batcher = new Batcher(run, {
    maxCost: MAX_CALLS,
    keyOf: ({ key = '' }) => key,
    isWanted: ({ isWanted }) => isWanted?.() !== false,
    slowMs: SLOW_BATCH_MS,
    ...(atOnce && { atOnce }),
  });

  return async (call) => {
    const deadline = new Deadline(toTimeLeft(deadlineMs));
    const bytes = encode(method.input, call.request);
    const waiting = {
      ...call,
      deadline,
      bytes,
      requestId: toCarriedIds(),
      traceparent: currentTraceparent(),
    };
    // Each call names its own requests, so the batch names none.
    const origin = { requestIds: [], trace: context.active() };
    const answer = await withinOrigin(origin, () => batcher.add(waiting, deadline));
    if (answer instanceof AppError) throw answer;
    return toResponse(method, answer);
  };
}

function toMessage({ assertion = '', deadline, requestId, traceparent, bytes }: Waiting<DescMessage>) {
  const timeoutMs = Math.ceil(deadline.remainingMs());
  return { timeoutMs, assertion, request: bytes, requestId, traceparent };
}

/** Throws the error of an answer. */
function toResponse<O extends DescMessage>(
  { output }: DescMethodUnary<DescMessage, O>,
  { result }: Answer,
): MessageShape<O> {
  if (result.case === 'error') throw fromErrorDetail(result.value);
  try {
    if (result.case === 'response') return fromBinary(output, result.value);
    throw new Error('an answer without a result');
  } catch (cause) {
    throw new AppError('internal', '', { cause });
  }
}
