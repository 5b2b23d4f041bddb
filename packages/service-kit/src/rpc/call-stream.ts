import {
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import type { ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
import type { Answer, CallSchema } from '@phds/contracts/phds/common/v1/calls_pb';
import { AppError, unavailable } from '../errors.ts';
import type { CarriedOrigin } from '../telemetry/current-origin.ts';
import { type AnswersMessage, encode } from './calls.ts';
import { codeOf, fromErrorDetail, fromGrpcError } from './errors.ts';
import type { RpcCode, RpcObserver } from './observer.ts';

/** The stream ended before the call was answered. */
export class StreamLost extends AppError {
  /** Whether the call may have been executed. */
  readonly mayBeExecuted: boolean;

  constructor(cause: unknown, mayBeExecuted: boolean) {
    super('unavailable', 'Temporarily unavailable.', { cause, retryAfterSeconds: 1 });
    this.name = 'StreamLost';
    this.mayBeExecuted = mayBeExecuted;
  }
}

/** A call to be sent over a stream. */
export interface StreamedCall<I extends DescMessage, O extends DescMessage> {
  readonly request: MessageInitShape<I>;
  /** The access assertion, for rpcs that require one. */
  readonly assertion?: string;
  /** What the call is made for. */
  readonly origin?: CarriedOrigin;
  /** How long to wait for the answer, in milliseconds. */
  readonly timeoutMs: number;
  readonly resolve: (response: MessageShape<O>) => void;
  /** With the error of the unary rpc, or StreamLost. */
  readonly reject: (error: AppError) => void;
}

interface Sent<I extends DescMessage, O extends DescMessage> {
  readonly call: StreamedCall<I, O>;
  readonly timeout: NodeJS.Timeout;
  readonly ended: ((code: RpcCode) => void) | undefined;
}

const NO_ORIGIN: CarriedOrigin = { requestId: '', traceparent: '' };

type Duplex = ClientDuplexStream<object, AnswersMessage>;

export interface CallStreamOptions<I extends DescMessage, O extends DescMessage> {
  /** The unary rpc whose calls the stream carries. */
  readonly method: DescMethodUnary<I, O>;
  readonly duplex: Duplex;
  readonly onClosed: (stream: CallStream<I, O>) => void;
  /** Observes every call that is sent. */
  readonly observer?: RpcObserver | undefined;
}

/** An open stream to one replica, which carries calls of one unary rpc. */
export class CallStream<I extends DescMessage, O extends DescMessage> {
  /** Address of the replica. */
  readonly peer: string;
  readonly #method: DescMethodUnary<I, O>;
  readonly #duplex: Duplex;
  readonly #onClosed: (stream: CallStream<I, O>) => void;
  readonly #observer: RpcObserver | undefined;
  readonly #unanswered = new Map<number, Sent<I, O>>();
  #lastId = 0;
  #isClosed = false;
  /** When the calls were last sent, by the monotonic clock in milliseconds. */
  sentAt = 0;
  /** Since when the replica owes an answer, by the same clock; null if it owes none. */
  #silentSince: number | null = null;

  constructor({ method, duplex, onClosed, observer }: CallStreamOptions<I, O>) {
    this.peer = duplex.getPeer();
    this.#method = method;
    this.#duplex = duplex;
    this.#onClosed = onClosed;
    this.#observer = observer;
    duplex.on('data', (message: AnswersMessage) => this.#receive(message));
    duplex.on('error', (error: ServiceError) => this.#lose(fromGrpcError(error)));
    duplex.on('end', () => this.#lose(new Error('the stream ended')));
  }

  /** Number of calls without an answer. */
  get load(): number {
    return this.#unanswered.size;
  }

  /** How long the replica has owed an answer without sending any. Continues when calls end without their answers. */
  get silentMs(): number {
    return this.#silentSince === null ? 0 : performance.now() - this.#silentSince;
  }

  /** Sends the calls in one message. Each is settled by itself. */
  send(calls: readonly StreamedCall<I, O>[]): void {
    if (this.#isClosed) {
      for (const call of calls) call.reject(new StreamLost(new Error('the stream is closed'), false));
      return;
    }
    const messages = calls.flatMap((call) => this.#toMessage(call));
    this.sentAt = performance.now();
    if (messages.length > 0) this.#silentSince ??= this.sentAt;
    if (messages.length > 0) this.#duplex.write({ calls: messages });
  }

  /** Sends no more calls. The stream ends when the earlier ones are answered or cancelled. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClosed(this);
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#isClosed && this.#unanswered.size === 0) this.#duplex.end();
  }

  /** Ends the stream at once. Unanswered calls are lost. */
  cancel(): void {
    this.close();
    this.#duplex.cancel();
  }

  /** Empty if the request cannot be encoded. */
  #toMessage(call: StreamedCall<I, O>): MessageInitShape<typeof CallSchema>[] {
    const { assertion = '', origin = NO_ORIGIN, timeoutMs } = call;
    let request: Uint8Array;
    try {
      request = encode(this.#method.input, call.request);
    } catch (cause) {
      call.reject(new AppError('internal', '', { cause }));
      return [];
    }
    this.#lastId = (this.#lastId + 1) % 2 ** 32;
    const id = this.#lastId;
    const timeout = setTimeout(() => {
      this.#duplex.write({ calls: [{ id, cancelled: true }] });
      this.#take(id, 'DEADLINE_EXCEEDED')?.reject(unavailable(new Error('no answer in time')));
    }, timeoutMs);
    this.#unanswered.set(id, { call, timeout, ended: this.#observer?.started(this.#method) });
    return [{ id, timeoutMs: Math.ceil(timeoutMs), assertion, request, ...origin }];
  }

  #receive({ answers, closing }: AnswersMessage): void {
    for (const answer of answers) this.#settle(answer);
    this.#silentSince = this.#unanswered.size === 0 ? null : performance.now();
    if (closing) this.close();
  }

  #settle({ id, result }: Answer): void {
    const error = result.case === 'error' ? fromErrorDetail(result.value) : null;
    const call = this.#take(id, error === null ? 'OK' : codeOf(error));
    // The answer may be late.
    if (call === undefined) return;
    try {
      if (error !== null) this.#fail(call, error);
      else if (result.case === 'response') call.resolve(fromBinary(this.#method.output, result.value));
      else throw new Error('an answer without a result');
    } catch (cause) {
      call.reject(new AppError('internal', '', { cause }));
    }
  }

  #fail(call: StreamedCall<I, O>, error: AppError): void {
    if (error.reason === 'caller_not_admitted') {
      // The service token of the stream has expired by the clock of the service.
      this.close();
      call.reject(new StreamLost(error, false));
    } else call.reject(error);
  }

  /** Ends the call with the code. */
  #take(id: number, code: RpcCode): StreamedCall<I, O> | undefined {
    const sent = this.#unanswered.get(id);
    if (sent === undefined) return undefined;
    this.#unanswered.delete(id);
    clearTimeout(sent.timeout);
    sent.ended?.(code);
    this.#endIfDone();
    return sent.call;
  }

  #lose(cause: Error): void {
    this.close();
    const lost = new StreamLost(cause, true);
    for (const id of this.#unanswered.keys()) this.#take(id, 'UNAVAILABLE')?.reject(lost);
  }
}

/** After this many milliseconds without an answer, calls go to another replica if there is one. */
const SILENT_MS = 200;

/**
 * The stream of the replica with the fewest unanswered calls, among equals the one that was used least recently. A replica that does
 * not answer is chosen only if none does. Undefined if there is no stream.
 */
export function leastLoaded<Stream extends { load: number; silentMs: number; sentAt: number }>(
  streams: readonly Stream[],
): Stream | undefined {
  const rank = ({ silentMs, load, sentAt }: Stream) => [Number(silentMs >= SILENT_MS), load, sentAt] as const;
  let best: Stream | undefined;
  for (const stream of streams) if (best === undefined || isLess(rank(stream), rank(best))) best = stream;
  return best;
}

function isLess(ours: readonly number[], theirs: readonly number[]): boolean {
  const index = ours.findIndex((each, at) => each !== theirs[at]);
  return index !== -1 && (ours[index] ?? 0) < (theirs[index] ?? 0);
}
