import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { CallOptions } from '@connectrpc/connect';
import { Batcher } from '../batcher.ts';
import { Deadline } from '../deadline.ts';
import { unavailable } from '../errors.ts';
import { type CarriedOrigin, toCarriedOrigin } from '../telemetry/current-origin.ts';
import { type CallStream, leastLoaded, type StreamedCall, StreamLost } from './call-stream.ts';
import { toTimeLeft } from './client.ts';
import { ASSERTION_METADATA } from './context.ts';
import { inCallerSpan } from './observer.ts';

/** A call of an rpc that streams carry. */
export interface CarriedCall<I extends DescMessage>
  extends Pick<StreamedCall<I, DescMessage>, 'request' | 'assertion'> {
  /** Whose the call is; see FairQueue. Default: all are of one. */
  readonly key?: string;
  /** Whether somebody still waits for the answer. Default: until the deadline. */
  readonly isWanted?: () => boolean;
  /** Uses the unary rpc, because the call can take long or has a large answer, which would delay others. */
  readonly isAlone?: boolean;
}

/** Calls the rpc. Rejects with the errors of the unary rpc. */
export type StreamedCalls<I extends DescMessage, O extends DescMessage> = (
  call: CarriedCall<I>,
) => Promise<MessageShape<O>>;

/** The streams to the replicas of a service; none is open while it cannot be reached. */
export interface OpenStreams<I extends DescMessage, O extends DescMessage> {
  readonly open: readonly Pick<CallStream<I, O>, 'load' | 'send' | 'sentAt' | 'silentMs'>[];
}

export interface StreamedCallsOptions<I extends DescMessage, O extends DescMessage> {
  /** The carried rpc. */
  readonly method: DescMethodUnary<I, O>;
  /** The same as a unary call. */
  readonly unary: (request: MessageInitShape<I>, options?: CallOptions) => Promise<MessageShape<O>>;
  readonly streams: OpenStreams<I, O>;
  /** Time limit of a call, in milliseconds. */
  readonly deadlineMs: number;
  /** Maximum number of batches in flight for each replica while so many calls wait. Default: calls are not gathered, as they are batches. */
  readonly batches?: (waiting: number) => number;
  /** Whether a call may be executed twice. Default: it may. */
  readonly isRepeatable?: (request: MessageInitShape<I>) => boolean;
}

interface SentCall<I extends DescMessage> extends CarriedCall<I> {
  readonly origin: CarriedOrigin;
}

/** After this many milliseconds, a batch with unanswered calls no longer delays the next ones. */
const SLOW_BATCH_MS = 100;

/**
 * Sends calls of an rpc over a stream for each replica, in batches. There is no timer: a batch leaves as soon as a replica has fewer than
 * its maximum in flight, with everything that waits then, to the least loaded replica; so one that hangs gets few. Each call is answered
 * by itself. While no stream is open, calls use the unary rpc; a call whose stream is lost is repeated once by it, unless it may have been
 * executed and must not be twice.
 */
export function createStreamedCalls<I extends DescMessage, O extends DescMessage>(
  options: StreamedCallsOptions<I, O>,
): StreamedCalls<I, O> {
  const { method, unary, streams, deadlineMs, batches, isRepeatable } = options;

  const send = (calls: readonly StreamedCall<I, O>[]) => {
    const stream = leastLoaded(streams.open);
    if (stream !== undefined) return stream.send(calls);
    for (const { reject } of calls) reject(new StreamLost(new Error('no stream is open'), false));
  };
  const batcher = new Batcher<SentCall<I>, MessageShape<O>>({
    keyOf: ({ key = '' }) => key,
    isWanted: ({ isWanted }) => isWanted?.() !== false,
    atOnce: (waiting) => (batches?.(waiting) ?? 1) * Math.max(1, streams.open.length),
    slowMs: SLOW_BATCH_MS,
    send: (batch) =>
      send(
        batch.map((each) => ({
          ...each.item,
          timeoutMs: each.deadline?.remainingMs() ?? 0,
          resolve: (response) => each.resolve(response),
          reject: (error) => each.reject(error),
        })),
      ),
  });
  const sendOne = (call: SentCall<I>, deadline: Deadline) =>
    new Promise<MessageShape<O>>((resolve, reject) =>
      send([{ ...call, timeoutMs: deadline.remainingMs(), resolve, reject }]),
    );
  const callAlone = async ({ request, assertion, isWanted }: CarriedCall<I>, timeoutMs?: number) => {
    if (isWanted?.() === false) throw unavailable(new Error('the caller stopped waiting'));
    return unary(request, {
      ...(assertion !== undefined && { headers: { [ASSERTION_METADATA]: assertion } }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  };

  return async (call) => {
    if (call.isAlone === true || streams.open.length === 0) return callAlone(call);
    const deadline = new Deadline(toTimeLeft(deadlineMs));
    try {
      return await inCallerSpan(method, () => {
        const sent = { ...call, origin: toCarriedOrigin() };
        return batches === undefined ? sendOne(sent, deadline) : batcher.add(sent, deadline);
      });
    } catch (error) {
      const isLost =
        error instanceof StreamLost && (isRepeatable?.(call.request) !== false || !error.mayBeExecuted);
      if (!isLost || deadline.remainingMs() === 0) throw error;
      return callAlone(call, deadline.remainingMs());
    }
  };
}
