import type { DescMethod } from '@bufbuild/protobuf';
import type { Metadata } from '@grpc/grpc-js';
import { Deadline, type Origin, toOrigin } from '../current-work.ts';
import { AppError, unauthorized } from '../errors.ts';
import type { SessionVerifier } from '../trust/session.ts';

/** Carries a person's session JWT to the called service. */
export const SESSION_METADATA = 'phds-session';

/** Carries the ids of the requests that a call is made for, separated by commas. */
export const REQUEST_ID_METADATA = 'x-request-id';

/** Carries the access assertion to health-data. */
export const ASSERTION_METADATA = 'phds-assertion';

/** Why an operator makes a call, percent-encoded. */
export const REASON_METADATA = 'phds-reason';

/** Time limit for a call without a deadline. */
const DEFAULT_DEADLINE_MS = 30_000;

/** Metadata of one call, in place of the metadata of the same names. */
type OwnMetadata = Readonly<Record<string, string>>;

/** What a handler knows of a call besides its message. */
export class RpcContext {
  readonly method: DescMethod;
  readonly deadline: Deadline;
  /** Address of the peer; empty if unknown. */
  readonly peer: string;
  /** Who calls; empty until the caller is admitted. */
  caller = '';
  readonly #metadata: Metadata;
  readonly #own: OwnMetadata;
  #abort: AbortController | undefined;
  #isCancelled = false;

  constructor(
    method: DescMethod,
    metadata: Metadata,
    deadline: Date | number | undefined,
    own: OwnMetadata = {},
    peer = '',
  ) {
    this.method = method;
    this.peer = peer;
    this.#metadata = metadata;
    this.#own = own;
    const timeoutMs = deadline === undefined ? Number.POSITIVE_INFINITY : Number(deadline) - Date.now();
    this.deadline = new Deadline(Number.isFinite(timeoutMs) ? timeoutMs : DEFAULT_DEADLINE_MS);
  }

  /** Null when absent. */
  findMetadata(name: string): string | null {
    const value = this.#own[name] ?? this.#metadata.get(name)[0];
    return typeof value === 'string' ? value : null;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#isCancelled) this.#abort.abort();
    }
    return this.#abort.signal;
  }

  /** The context of a call that this call's message carries, with its own metadata. */
  carry(method: DescMethod, timeoutMs: number, own: OwnMetadata): RpcContext {
    const deadline = Date.now() + Math.min(timeoutMs, this.deadline.remainingMs());
    return new RpcContext(method, this.#metadata, deadline, own, this.peer);
  }

  /** Called when the caller has given up, the deadline has passed, or the call is over. */
  cancel(): void {
    this.#isCancelled = true;
    this.deadline.end();
    this.#abort?.abort();
  }
}

/** One guarded rpc. It rejects only with AppError. `caller` is given if it is admitted already. */
export type UnaryHandler = (request: never, context: RpcContext, caller?: string) => Promise<object>;

/** The person's session JWT sent with the call. Throws `unauthorized` without one. */
export function sessionOf(context: RpcContext): string {
  const session = context.findMetadata(SESSION_METADATA);
  if (session === null || session === '') throw unauthorized(`${SESSION_METADATA} is missing`);
  return session;
}

/** The user of a call, by the session that came along, which is verified here: no gateway can invent users. Throws `unauthorized`. */
export type UserOf = (context: RpcContext) => Promise<string>;

export function createUserOf(verifySession: SessionVerifier): UserOf {
  return async (context) => (await verifySession(sessionOf(context))).userId;
}

/** The access assertion sent with the call. Throws `internal` without one, because the calling service must send it. */
export function assertionOf(context: RpcContext): string {
  const assertion = context.findMetadata(ASSERTION_METADATA);
  if (assertion !== null && assertion !== '') return assertion;
  throw new AppError('internal', '', { cause: new Error(`${ASSERTION_METADATA} is missing`) });
}

/** What the call is made for, as its caller says. */
export function originOf(context: RpcContext): Origin {
  return toOrigin(context.findMetadata(REQUEST_ID_METADATA));
}
