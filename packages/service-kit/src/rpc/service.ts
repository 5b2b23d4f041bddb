import type { DescMethodUnary, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { withinCall } from '../current-work.ts';
import { AppError, invalidRequest, toAppError } from '../errors.ts';
import { translateDatabaseError } from '../postgres/errors.ts';
import type { Logger } from '../telemetry/log.ts';
import { sampledLogOf, toCauseText } from '../telemetry/log.ts';
import {
  CONSENT_ENDERS,
  explainRefusal,
  findClaimedCaller,
  findOperator,
  isAdmitted,
  isOtherService,
  type RolesOf,
  refusedToken,
  type ServiceTokenVerifier,
} from '../trust/callers.ts';
import { answerCalls, type CallsMessage } from './batch-rpc.ts';
import { originOf, type RpcContext, type UnaryHandler } from './context.ts';
import { codeOf, type RpcObserver, toRpcName } from './errors.ts';
import { UNREADABLE } from './messages.ts';
import { type OperatorRecord, runOperatorCall } from './operator-acts.ts';

/** The unary rpcs that carry calls of others; see `batch-rpc.ts`. */
type BatchNames<Service extends DescService> = {
  [Rpc in keyof Service['method']]: MessageShape<Service['method'][Rpc]['input']> extends CallsMessage
    ? Rpc
    : never;
}[keyof Service['method']];

type Names<Service extends DescService> = Exclude<keyof Service['method'], BatchNames<Service>>;

/** The implementation of every rpc, except batch rpcs. */
export type UnaryRpcs<Service extends DescService> = {
  [Rpc in Names<Service>]: (
    request: MessageShape<Service['method'][Rpc]['input']>,
    context: RpcContext,
  ) => Awaitable<MessageInitShape<Service['method'][Rpc]['output']>>;
};

type Awaitable<T> = T | Promise<T>;

/** The admitted callers of each rpc: services by name, operators by role. Every rpc must be listed; an empty list admits nobody. */
export type Admitted<Service extends DescService> = {
  readonly [Rpc in Names<Service>]: readonly string[];
};

/** The rpc whose calls each batch rpc carries. It admits the same callers. */
type Carried<Service extends DescService> = {
  readonly [Rpc in BatchNames<Service>]: Names<Service>;
};

/** A service with its implementation and its callers, ready to be mounted. */
export interface RpcService {
  readonly descriptor: DescService;
  readonly handlers: ReadonlyMap<string, UnaryHandler>;
  /** The callers that each rpc admits. */
  readonly callers: Readonly<Record<string, readonly string[]>>;
  /** Returns the caller of an rpc, before its message is read. Throws `caller_not_admitted`. */
  readonly admit: (call: RpcContext) => Promise<string>;
}

/** Combines a service with its implementation, the admitted callers of each rpc, and what its batch rpcs carry. */
export function implement<Service extends DescService>(
  descriptor: Service,
  implementation: UnaryRpcs<Service>,
  admitted: Admitted<Service>,
  ...[carried]: keyof Carried<Service> extends never ? [] : [Carried<Service>]
): (guard: RpcGuard) => RpcService {
  const rpcs = implementation as unknown as Readonly<Record<string, UnaryHandler>>;
  const carriedBy = (carried ?? {}) as Readonly<Record<string, string>>;
  const callers: Record<string, readonly string[]> = { ...admitted };
  for (const [batch, rpc] of Object.entries(carriedBy)) callers[batch] = callers[rpc] ?? [];
  return (guard) => {
    const handlers = new Map<string, UnaryHandler>();
    for (const { localName: rpc } of descriptor.methods) {
      const handler = rpcs[rpc];
      if (handler === undefined) continue;
      handlers.set(rpc, guarded(handler.bind(implementation), callers[rpc] ?? [], guard));
    }
    for (const [batch, rpc] of Object.entries(carriedBy)) {
      const handler = handlers.get(rpc);
      if (handler === undefined) throw new TypeError(`${batch} carries ${rpc}, which is not implemented`);
      const carriedRpc = { method: descriptor.method[rpc] as DescMethodUnary, handler };
      handlers.set(batch, guardedBatch(carriedRpc, callers[batch] ?? [], guard));
    }
    return {
      descriptor,
      handlers,
      callers,
      admit: (call) => admit(call, callers[call.method.localName] ?? [], guard),
    };
  };
}

/** The checks in front of every rpc. */
export interface RpcGuard {
  readonly verifyCaller: ServiceTokenVerifier;
  readonly log: Logger;
  /** Default: no operator is admitted. */
  readonly operators?: { readonly rolesOf: RolesOf; readonly record: OperatorRecord };
  /** Observes every call, including refused ones. */
  readonly observer?: RpcObserver;
}

function guarded(handler: UnaryHandler, callers: readonly string[], guard: RpcGuard): UnaryHandler {
  const answer: UnaryHandler = async (request, context, admitted) => {
    const caller = admitted ?? (await admit(context, callers, guard));
    context.caller = caller;
    const work = () => run(handler, request, context, guard.log);
    const operator = findActor(caller, callers);
    const { operators, log } = guard;
    const answer =
      operator === null || operators === undefined
        ? work
        : () => runOperatorCall({ operator, request, context, record: operators.record, log }, work);
    return logged(context, log, answer);
  };
  const { observer } = guard;
  return observer === undefined ? answer : observed(answer, observer);
}

/** A batch rpc, whose calls run through the handler of the rpc that it carries. */
function guardedBatch(
  rpc: { readonly method: DescMethodUnary; readonly handler: UnaryHandler },
  callers: readonly string[],
  guard: RpcGuard,
): UnaryHandler {
  return async (request, context, admitted) => {
    const caller = admitted ?? (await admit(context, callers, guard));
    return logged(context, guard.log, async () =>
      answerCalls(requireReadable(request), context, { ...rpc, caller }),
    );
  };
}

/** Who is recorded as the operator of a call: also a service that ends grants. Null for a call that is not recorded. */
function findActor(caller: string, callers: readonly string[]): string | null {
  const isEnder = isOtherService(caller) && CONSENT_ENDERS.some((ender) => callers.includes(ender));
  return isEnder ? caller : findOperator(caller);
}

function observed(answer: UnaryHandler, observer: RpcObserver): UnaryHandler {
  return async (request, context, caller) => {
    const ended = observer.started(context.method);
    try {
      const response = await answer(request, context, caller);
      ended('OK');
      return response;
    } catch (error) {
      ended(codeOf(toAppError(error)));
      throw error;
    }
  };
}

/** Runs the work of an admitted call. Logs any failure once, with the request's id. */
function logged<T>(context: RpcContext, log: Logger, work: () => Promise<T>): Promise<T> {
  return withinCall(context.deadline, originOf(context), async () => {
    try {
      return await work();
    } catch (error) {
      throw report(translateDatabaseError(error), context, log);
    }
  });
}

async function run(handler: UnaryHandler, request: never, context: RpcContext, log: Logger): Promise<object> {
  const startedAt = performance.now();
  try {
    const response = await handler(requireReadable(request), context);
    if (log.isLevelEnabled('debug')) {
      log.debug(
        { rpc: toRpcName(context.method), ms: Math.round(performance.now() - startedAt) },
        'rpc answered',
      );
    }
    return response;
  } catch (error) {
    throw toOwnError(error);
  }
}

function requireReadable(request: never): never {
  if ((request as object) === UNREADABLE) throw invalidRequest('request', 'is not a valid message');
  return request;
}

const nobody: RolesOf = () => [];

/** Returns the caller. */
async function admit(call: RpcContext, callers: readonly string[], guard: RpcGuard): Promise<string> {
  try {
    const token = findServiceToken(call);
    if (token === null) throw refusedToken('there is no "authorization: Bearer …"');
    const caller = await guard.verifyCaller(token);
    if (isAdmitted(callers, caller, guard.operators?.rolesOf ?? nobody)) return caller;
    throw new AppError('caller_not_admitted', explainRefusal(call.method.name, callers, caller));
  } catch (error) {
    guard.observer?.refused?.(call.method);
    throw reportCaller(toAppError(error), call, guard.log);
  }
}

function findServiceToken(call: RpcContext): string | null {
  const header = call.findMetadata('authorization');
  return header?.startsWith('Bearer ') ? header.slice('Bearer '.length) : null;
}

/** Anybody who reaches the port can cause these lines, so they are sampled and have no stack. */
function reportCaller(refusal: AppError, call: RpcContext, log: Logger): AppError {
  const fields = {
    rpc: toRpcName(call.method),
    reason: refusal.reason,
    cause: toCauseText(refusal.message || refusal.cause, 'caller'),
    kid: findClaimedCaller(findServiceToken(call)),
    address: call.peer,
  };
  if (isFault(refusal)) sampledLogOf(log)('error', 'caller', fields, 'rpc failed');
  else sampledLogOf(log)('warn', 'caller', fields, 'rpc refused');
  return refusal;
}

/**
 * If another service rejects our service token, the keys are misconfigured. Our own caller cannot fix that, so it gets `internal`.
 */
function toOwnError(error: unknown): AppError {
  const appError = translateDatabaseError(error);
  return appError.reason === 'caller_not_admitted'
    ? new AppError('internal', '', { cause: appError })
    : appError;
}

/**
 * Logs faults as errors, here and nowhere else. Refusals are caused by the caller and logged at debug level only. Faults and outages fail
 * every call, so their lines are sampled.
 */
function report(appError: AppError, { method }: RpcContext, log: Logger): AppError {
  const rpc = toRpcName(method);
  const { reason } = appError;
  const kind = `${rpc} ${reason}`;
  if (isFault(appError)) sampledLogOf(log)('error', kind, { rpc, err: appError }, 'rpc failed');
  else if (reason === 'unavailable' || reason === 'access_not_recorded') {
    sampledLogOf(log)('warn', kind, { rpc, err: appError }, 'rpc refused');
  } else log.debug({ rpc, reason }, 'rpc refused');
  return appError;
}

/** Whether somebody has to fix something: code, or mismatched keys. Unavailable dependencies are excluded. */
function isFault({ reason, cause }: AppError): boolean {
  if (reason === 'internal') return true;
  // A token that does not verify has a wrong key or a wrong clock. Without a token, the caller is simply not one of our services.
  if (reason === 'caller_not_admitted') return cause !== undefined;
  return (
    reason === 'access_not_recorded' &&
    cause instanceof AppError &&
    (cause.reason === 'caller_not_admitted' || cause.reason === 'internal')
  );
}
