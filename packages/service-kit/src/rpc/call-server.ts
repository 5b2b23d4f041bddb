import type { MessageInitShape } from '@bufbuild/protobuf';
import { type handleBidiStreamingCall, Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import type { AnswerSchema, Call } from '@phds/contracts/phds/common/v1/calls_pb';
import { type AppError, invalidRequest, toAppError, unavailable } from '../errors.ts';
import { type CallsMessage, decode, encode, UNREADABLE } from './calls.ts';
import {
  ASSERTION_METADATA,
  type OwnMetadata,
  REQUEST_ID_METADATA,
  RpcContext,
  TRACEPARENT_METADATA,
} from './context.ts';
import { toErrorDetail, toGrpcError, tooLarge } from './errors.ts';
import type { ServedStream } from './service.ts';

export interface CallStreamLimits {
  /** Longest time that a call may take, in milliseconds. */
  readonly maxDeadlineMs: number;
  /** Unanswered calls of one stream; more are refused. */
  readonly maxCalls: number;
  /** Bytes of one response; callers accept no larger message. */
  readonly maxResponseBytes: number;
}

/** About the size of one message, in bytes. A message has at least one answer, whatever its size. */
const MESSAGE_BYTES = 1024 * 1024;

/** The longest delay until a call is notified that its time is over. */
const SWEEP_MS = 25;

type AnswerInit = MessageInitShape<typeof AnswerSchema>;
type Duplex = ServerDuplexStream<CallsMessage, { answers: AnswerInit[]; closing?: boolean }>;

/** The open streams of a server. */
export class CallStreams {
  readonly #limits: CallStreamLimits;
  readonly #open = new Set<CallStream>();
  #isClosing = false;

  constructor(limits: CallStreamLimits) {
    this.#limits = limits;
  }

  /** Serves a stream: each of its calls runs through the guarded handler of the unary rpc, with a deadline of its own. */
  serve(served: ServedStream): handleBidiStreamingCall<CallsMessage, object> {
    return async (duplex) => {
      try {
        const peer = duplex.getPeer();
        await served.admit(new RpcContext(served.method, duplex.metadata, duplex.getDeadline(), {}, peer));
      } catch (error) {
        duplex.emit('error', toGrpcError(toAppError(error)));
        return;
      }
      // The event was missed if the caller is already gone.
      if (duplex.cancelled) return;
      const stream = new CallStream(served, duplex, this.#limits, () => this.#open.delete(stream));
      this.#open.add(stream);
      stream.start();
      if (this.#isClosing) stream.close();
    };
  }

  /** Asks the callers to send no more calls. Each stream ends when its calls are answered. */
  close(): void {
    this.#isClosing = true;
    for (const stream of this.#open) stream.close();
  }
}

class CallStream {
  readonly #served: ServedStream;
  readonly #duplex: Duplex;
  readonly #limits: CallStreamLimits;
  readonly #onEnd: () => void;
  /** By their ids. */
  readonly #running = new Map<number, RpcContext>();
  #sweeper: NodeJS.Timeout | undefined;
  #unanswered = 0;
  #answers: AnswerInit[] = [];
  /** The caller sends no more calls. */
  #isComplete = false;
  /** No more answers can be sent. */
  #isOver = false;

  constructor(served: ServedStream, duplex: Duplex, limits: CallStreamLimits, onEnd: () => void) {
    this.#served = served;
    this.#duplex = duplex;
    this.#limits = limits;
    this.#onEnd = onEnd;
  }

  start(): void {
    this.#duplex.on('cancelled', () => this.#abandon());
    this.#duplex.on('end', () => {
      this.#isComplete = true;
      this.#endIfDone();
    });
    this.#duplex.on('data', (message: CallsMessage) => {
      if (message === UNREADABLE) return this.#refuse(invalidRequest('request', 'is not a valid message'));
      const caller = this.#admit();
      for (const call of message.calls) {
        if (call.cancelled) this.#running.get(call.id)?.cancel();
        else void this.#answer(call, caller);
      }
    });
    // Tells the caller that it is admitted.
    this.#duplex.sendMetadata(new Metadata());
  }

  close(): void {
    this.#duplex.write({ answers: [], closing: true });
  }

  #refuse(error: AppError): void {
    this.#abandon();
    this.#duplex.emit('error', toGrpcError(error));
  }

  /** Admits the calls of one message. If that fails, each call is admitted, and refused, by itself. */
  #admit(): Promise<string | undefined> {
    const { carried, admit } = this.#served;
    const head = new RpcContext(carried, this.#duplex.metadata, undefined, {}, this.#duplex.getPeer());
    return admit(head).catch(() => undefined);
  }

  /** Never rejects. */
  async #answer(call: Call, caller: Promise<string | undefined>): Promise<void> {
    const { id } = call;
    this.#unanswered += 1;
    try {
      const response = encode(this.#served.carried.output, await this.#handle(call, caller));
      if (response.length > this.#limits.maxResponseBytes)
        throw tooLarge(new Error(`${response.length} bytes`));
      this.#send({ id, result: { case: 'response', value: response } });
    } catch (error) {
      this.#send({ id, result: { case: 'error', value: toErrorDetail(toAppError(error)) } });
    }
  }

  async #handle(call: Call, caller: Promise<string | undefined>): Promise<object> {
    const { id, timeoutMs, request } = call;
    const { carried, handler } = this.#served;
    if (this.#unanswered > this.#limits.maxCalls)
      throw unavailable(new Error(`${carried.name}: too many calls`));
    const message = decode(carried.input, request);
    const waitMs = Math.min(timeoutMs, this.#limits.maxDeadlineMs);
    const own = toOwnMetadata(call);
    const context = new RpcContext(
      carried,
      this.#duplex.metadata,
      Date.now() + waitMs,
      own,
      this.#duplex.getPeer(),
    );
    this.#running.set(id, context);
    this.#sweeper ??= setTimeout(() => this.#cancelLate(), SWEEP_MS);
    try {
      return await handler(message as never, context, await caller);
    } finally {
      this.#running.delete(id);
    }
  }

  /** Cancels the calls whose time is over. A timer for each call would cost more than the rest of its bookkeeping. */
  #cancelLate(): void {
    for (const call of this.#running.values()) if (call.deadline.remainingMs() === 0) call.cancel();
    this.#sweeper = this.#running.size === 0 ? undefined : this.#sweeper?.refresh();
  }

  /** Answers of the same turn go out in one message. */
  #send(answer: AnswerInit): void {
    if (this.#answers.push(answer) === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#isOver) return;
    const answers = this.#answers;
    this.#answers = [];
    this.#unanswered -= answers.length;
    for (const part of inMessages(answers)) this.#duplex.write({ answers: part });
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (!this.#isComplete || this.#unanswered > 0) return;
    this.#isOver = true;
    this.#onEnd();
    this.#duplex.end();
  }

  /** Ends the work for a caller that is gone. */
  #abandon(): void {
    this.#isOver = true;
    this.#onEnd();
    for (const call of this.#running.values()) call.cancel();
  }
}

function* inMessages(answers: readonly AnswerInit[]): Generator<AnswerInit[]> {
  let part: AnswerInit[] = [];
  let bytes = 0;
  for (const answer of answers) {
    const size = answer.result?.case === 'response' ? (answer.result.value?.length ?? 0) : 0;
    if (part.length > 0 && bytes + size > MESSAGE_BYTES) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(answer);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** What grpc-js accepts as a value of metadata. */
const METADATA_VALUE = /^[ -~]*$/;

/** The metadata that only the unary call would have. */
function toOwnMetadata({ assertion, requestId, traceparent }: Call): OwnMetadata {
  const own: Record<string, string> = {};
  if (assertion !== '') own[ASSERTION_METADATA] = assertion;
  if (requestId !== '') own[REQUEST_ID_METADATA] = requestId;
  if (traceparent !== '') own[TRACEPARENT_METADATA] = traceparent;
  for (const name in own) {
    if (!METADATA_VALUE.test(own[name] as string)) throw new TypeError(`${name} is not a value of metadata`);
  }
  return own;
}
