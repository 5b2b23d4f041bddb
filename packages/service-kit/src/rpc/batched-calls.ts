import {
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import type { CallOptions } from '@connectrpc/connect';
import type { Answer, CallSchema } from '@phds/contracts/phds/common/v1/calls_pb';
import { batchingCalls } from '../batcher.ts';
import { Deadline, withinDeadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { toCarriedOrigin } from '../telemetry/current-origin.ts';
import { MAX_CALLS } from './batch-rpc.ts';
import { toTimeLeft } from './client.ts';
import { fromErrorDetail, isConnectionLost } from './errors.ts';
import { encode } from './messages.ts';
import { inCallerSpan } from './observer.ts';

/** A call of an rpc that a batch rpc carries. */
export interface CarriedCall<I extends DescMessage> {
  readonly request: MessageInitShape<I>;
  /** The access assertion, for rpcs that require one. */
  readonly assertion?: string;
  /** Whose the call is; see FairQueue. Default: all are of one. */
  readonly key?: string;
  /** Whether somebody still waits for the answer. Default: until the deadline. */
  readonly isWanted?: () => boolean;
}

export interface BatchedCallsOptions<I extends DescMessage, O extends DescMessage> {
  /** The carried rpc. */
  readonly method: DescMethodUnary<I, O>;
  /** The batch rpc. */
  readonly batch: (
    request: { calls: MessageInitShape<typeof CallSchema>[] },
    options?: CallOptions,
  ) => Promise<{ answers: Answer[] }>;
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
  readonly origin: ReturnType<typeof toCarriedOrigin>;
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

  const send = async (calls: readonly Waiting<I>[]): Promise<readonly Answer[]> =>
    calls.length === 0 ? [] : (await batch({ calls: calls.map(toMessage) })).answers;
  const sendAgain = async (calls: readonly Waiting<I>[], lost: AppError) => {
    const isWorthIt = ({ request, deadline, isWanted }: Waiting<I>) =>
      isRepeatable?.(request) !== false && deadline.remainingMs() > 0 && isWanted?.() !== false;
    const again = calls.filter(isWorthIt);
    const answers = await send(again);
    return calls.map((call) => answers[again.indexOf(call)] ?? lost);
  };
  const run = (calls: readonly Waiting<I>[]): Promise<readonly Outcome[]> =>
    send(calls).catch((error) => (isConnectionLost(error) ? sendAgain(calls, error) : Promise.reject(error)));
  const add = batchingCalls<Waiting<I>, Outcome>(run, {
    maxCost: MAX_CALLS,
    keyOf: ({ key = '' }) => key,
    isWanted: ({ isWanted }) => isWanted?.() !== false,
    slowMs: SLOW_BATCH_MS,
    ...(atOnce && { atOnce }),
  });

  return (call) =>
    inCallerSpan(method, async () => {
      const deadline = new Deadline(toTimeLeft(deadlineMs));
      const waiting = {
        ...call,
        deadline,
        origin: toCarriedOrigin(),
        bytes: encode(method.input, call.request),
      };
      return toResponse(method, await withinDeadline(deadline, () => add(waiting)));
    });
}

/** The answer, or why there is none. */
type Outcome = Answer | AppError;

function toMessage({ assertion = '', deadline, origin, bytes }: Waiting<DescMessage>) {
  return { timeoutMs: Math.ceil(deadline.remainingMs()), assertion, request: bytes, ...origin };
}

/** Throws the error of an answer, or of a call that was lost. */
function toResponse<O extends DescMessage>(
  { output }: DescMethodUnary<DescMessage, O>,
  outcome: Outcome,
): MessageShape<O> {
  if (outcome instanceof AppError) throw outcome;
  const { result } = outcome;
  if (result.case === 'error') throw fromErrorDetail(result.value);
  try {
    if (result.case === 'response') return fromBinary(output, result.value);
    throw new Error('an answer without a result');
  } catch (cause) {
    throw new AppError('internal', '', { cause });
  }
}
