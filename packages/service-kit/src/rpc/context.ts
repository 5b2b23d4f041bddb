import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { type ContextValues, createContextValues, type HandlerContext } from '@connectrpc/connect';
import type { Metadata } from '@grpc/grpc-js';
import { Deadline } from '../deadline.ts';
import { AppError, unauthorized } from '../errors.ts';
import { fromCarriedOrigin } from '../telemetry/current-origin.ts';
import type { Origin } from '../telemetry/origin.ts';
import type { SessionVerifier } from '../trust/session.ts';
import {
  ASSERTION_METADATA,
  REQUEST_ID_METADATA,
  SESSION_METADATA,
  TRACEPARENT_METADATA,
} from './metadata-keys.ts';

/** The person's session JWT sent with the call. Throws `unauthorized` without one. */
export function sessionOf(context: HandlerContext): string {
  const session = findHeader(context, SESSION_METADATA);
  if (session === null || session === '') throw unauthorized(`${SESSION_METADATA} is missing`);
  return session;
}

/** The user of a call, by the session that came along, which is verified here: no gateway can invent users. Throws `unauthorized`. */
export type UserOf = (context: HandlerContext) => Promise<string>;

export function createUserOf(verifySession: SessionVerifier): UserOf {
  return async (context) => (await verifySession(sessionOf(context))).userId;
}

/** The access assertion sent with the call. Throws `internal` without one, because the calling service must send it. */
export function assertionOf(context: HandlerContext): string {
  const assertion = findHeader(context, ASSERTION_METADATA);
  if (assertion !== null && assertion !== '') return assertion;
  throw new AppError('internal', '', { cause: new Error(`${ASSERTION_METADATA} is missing`) });
}

/** What is known of a call before its message is read. */
export type CallHead = Pick<HandlerContext, 'method' | 'requestHeader'>;

/** A request header; null when absent. Over gRPC it is read without creating a Headers object. */
export function findHeader(call: CallHead, name: string): string | null {
  return call instanceof GrpcHandlerContext ? call.findMetadata(name) : call.requestHeader.get(name);
}

/** Time limit for a call without a deadline. */
const DEFAULT_DEADLINE_MS = 30_000;

/** The deadline of the call. */
export function deadlineOf(context: HandlerContext): Deadline {
  if (context instanceof GrpcHandlerContext) return context.deadline;
  const deadline = new Deadline(context.timeoutMs() ?? DEFAULT_DEADLINE_MS);
  context.signal.addEventListener('abort', () => deadline.end(), { once: true });
  return deadline;
}

/** What the call is made for, as its caller says. */
export function originOf(context: HandlerContext): Origin {
  return fromCarriedOrigin(
    findHeader(context, REQUEST_ID_METADATA),
    findHeader(context, TRACEPARENT_METADATA),
  );
}

/** Metadata of one call of a stream, in place of the stream's metadata of the same names. */
export type OwnMetadata = Readonly<Record<string, string>>;

/** Connect's handler context for a grpc-js call. Its parts are created on demand, since most calls need only two headers. */
export class GrpcHandlerContext implements HandlerContext {
  readonly service: DescService;
  readonly method: DescMethod;
  readonly requestMethod = 'POST';
  readonly protocolName = 'grpc';
  readonly url: string;
  readonly deadline: Deadline;
  readonly #metadata: Metadata;
  readonly #own: OwnMetadata;
  #requestHeader: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;
  #values: ContextValues | undefined;
  #abort: AbortController | undefined;
  #isCancelled = false;

  constructor(
    method: DescMethod,
    metadata: Metadata,
    deadline: Date | number | undefined,
    own: OwnMetadata = {},
  ) {
    this.service = method.parent;
    this.method = method;
    this.url = `/${method.parent.typeName}/${method.name}`;
    this.#metadata = metadata;
    this.#own = own;
    const timeoutMs = deadline === undefined ? Number.POSITIVE_INFINITY : Number(deadline) - Date.now();
    this.deadline = new Deadline(Number.isFinite(timeoutMs) ? timeoutMs : DEFAULT_DEADLINE_MS);
  }

  findMetadata(name: string): string | null {
    const value = this.#own[name] ?? this.#metadata.get(name)[0];
    return typeof value === 'string' ? value : null;
  }

  get requestHeader(): Headers {
    if (this.#requestHeader === undefined) {
      this.#requestHeader = new Headers();
      for (const [key, value] of Object.entries({ ...this.#metadata.getMap(), ...this.#own })) {
        if (typeof value === 'string') this.#requestHeader.set(key, value);
      }
    }
    return this.#requestHeader;
  }

  get responseHeader(): Headers {
    this.#responseHeader ??= new Headers();
    return this.#responseHeader;
  }

  get responseTrailer(): Headers {
    this.#responseTrailer ??= new Headers();
    return this.#responseTrailer;
  }

  get values(): ContextValues {
    this.#values ??= createContextValues();
    return this.#values;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#isCancelled) this.#abort.abort();
    }
    return this.#abort.signal;
  }

  timeoutMs(): number {
    return this.deadline.remainingMs();
  }

  /** Called when the caller has given up, the deadline has passed, or the call is over. */
  cancel(): void {
    this.#isCancelled = true;
    this.deadline.end();
    this.#abort?.abort();
  }
}
