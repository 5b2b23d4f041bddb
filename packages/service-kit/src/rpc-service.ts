import type { DescService } from '@bufbuild/protobuf';
import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { withinDeadline } from './deadline.ts';
import { AppError, toAppError } from './errors.ts';
import type { Logger } from './log.ts';
import { deadlineOf, findHeader } from './rpc-context.ts';
import type { ServiceTokenVerifier } from './service-token.ts';

/** The admitted callers of each rpc. Every rpc must be listed; an empty list admits nobody. */
export type Admitted<Service extends DescService> = {
  readonly [Rpc in keyof Service['method']]: readonly string[];
};

/** A service with its implementation and its callers, ready to be mounted. */
export interface RpcService {
  readonly descriptor: DescService;
  readonly handlers: ReadonlyMap<string, UnaryHandler>;
}

/** One guarded unary rpc. It rejects only with AppError. */
export type UnaryHandler = (request: never, context: HandlerContext) => Promise<object>;

/** Combines a service with its implementation and the admitted callers of each rpc. */
export function implement<Service extends DescService>(
  descriptor: Service,
  implementation: ServiceImpl<Service>,
  admitted: Admitted<Service>,
): (guard: RpcGuard) => RpcService {
  return (guard) => ({
    descriptor,
    handlers: new Map(
      descriptor.methods.map((method) => {
        if (method.methodKind !== 'unary') throw new TypeError(`${method.name}: only unary rpcs are served`);
        const rpc = method.localName as keyof Service['method'];
        const handler = implementation[rpc] as unknown as UnaryHandler;
        return [method.localName, guarded(handler.bind(implementation), admitted[rpc], guard)];
      }),
    ),
  });
}

/** The checks in front of every rpc, on either protocol. */
export interface RpcGuard {
  readonly verifyCaller: ServiceTokenVerifier;
  readonly log: Logger;
}

function guarded(handler: UnaryHandler, callers: readonly string[], guard: RpcGuard): UnaryHandler {
  return async (request, context) => {
    try {
      await admit(context, callers, guard);
    } catch (error) {
      throw report(toAppError(error), context, guard.log);
    }
    try {
      return await withinDeadline(deadlineOf(context), () => handler(request, context));
    } catch (error) {
      throw report(toOwnError(error), context, guard.log);
    }
  };
}

async function admit(context: HandlerContext, callers: readonly string[], guard: RpcGuard): Promise<void> {
  const header = findHeader(context, 'authorization');
  if (!header?.startsWith('Bearer ')) throw new AppError('caller_not_admitted');
  const caller = await guard.verifyCaller(header.slice('Bearer '.length));
  if (!callers.includes(caller)) throw new AppError('caller_not_admitted');
}

/**
 * If another service rejects our service token, the keys are misconfigured. Our own caller cannot fix that, so it gets `internal`.
 */
function toOwnError(error: unknown): AppError {
  const appError = toAppError(error);
  return appError.reason === 'caller_not_admitted'
    ? new AppError('internal', '', { cause: appError })
    : appError;
}

/** Logs faults as errors, here and nowhere else. Refusals are caused by the caller and logged at debug level only. */
function report(appError: AppError, context: HandlerContext, log: Logger): AppError {
  const rpc = `${context.service.typeName}/${context.method.name}`;
  const { reason } = appError;
  if (isFault(appError)) log.error({ rpc, err: appError }, 'rpc failed');
  else if (reason === 'unavailable' || reason === 'access_not_recorded' || reason === 'caller_not_admitted') {
    log.warn({ rpc, err: appError }, 'rpc refused');
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
