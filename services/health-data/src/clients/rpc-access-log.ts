import type { MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { AccessService, Verdict as VerdictMessage } from '@phds/contracts/phds/consent/v1/access_pb';
import { type CallStream, leastLoaded, StreamLost } from '@phds/service-kit/rpc-call-stream';
import { inCallerSpan } from '@phds/service-kit/rpc-span';
import { currentTraceparent } from '@phds/telemetry/spans';
import type { Access, Verdict } from '../app/ports.ts';

const VERDICTS: ReadonlyMap<VerdictMessage, Verdict> = new Map([
  [VerdictMessage.RELEASED, 'released'],
  [VerdictMessage.TOKEN_EXPIRED, 'token_expired'],
  [VerdictMessage.TOKEN_REVOKED, 'token_revoked'],
  [VerdictMessage.FAMILY_REVOKED, 'family_revoked'],
  [VerdictMessage.GRANT_REVOKED, 'grant_revoked'],
  [VerdictMessage.GRANT_EXPIRED, 'grant_expired'],
  [VerdictMessage.SCOPE_WITHDRAWN, 'scope_withdrawn'],
  [VerdictMessage.APP_NOT_ALIVE, 'app_not_alive'],
  [VerdictMessage.WINDOW_CHANGED, 'window_changed'],
  [VerdictMessage.RESTORE_UNCONFIRMED, 'restore_unconfirmed'],
]);

/** Records a batch and returns one verdict for each access, in order; null for an unusable one. */
export type SendAccesses = (accesses: readonly Access[]) => Promise<readonly (Verdict | null)[]>;

export interface RpcAccessLogOptions {
  /** The unary rpc. */
  readonly consent: Pick<Client<typeof AccessService>, 'recordAccess'>;
  /** A stream to each replica of consent; empty while there is none. */
  readonly streams: { readonly open: readonly RecordStream[] };
  /** Time limit of a batch, in milliseconds. */
  readonly deadlineMs: number;
}

type RecordAccess = (typeof AccessService)['method']['recordAccess'];
type RecordStream = Pick<
  CallStream<RecordAccess['input'], RecordAccess['output']>,
  'load' | 'send' | 'sentAt' | 'silentMs'
>;
type Request = MessageInitShape<RecordAccess['input']>;
type Response = MessageShape<RecordAccess['output']>;

/**
 * Lets consent record and judge a batch, over the stream of a replica that answers or, while none is open, by the unary rpc. A batch
 * that may have been recorded is not sent again.
 */
export function createRpcAccessLog({ consent, streams, deadlineMs }: RpcAccessLogOptions): SendAccesses {
  return async (accesses) => {
    const request = { accesses: accesses.map(toAccessMessage) };
    const stream = leastLoaded(streams.open);
    const { verdicts } = await (stream === undefined
      ? consent.recordAccess(request)
      : inCallerSpan(AccessService.method.recordAccess, () => record(stream, request)));
    return verdicts.map((verdict) => VERDICTS.get(verdict) ?? null);
  };

  async function record(stream: RecordStream, request: Request): Promise<Response> {
    try {
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      // The accesses have the ids of their requests.
      const origin = { requestId: '', traceparent: currentTraceparent() };
      stream.send([{ request, origin, timeoutMs: deadlineMs, resolve, reject }]);
      return await promise;
    } catch (error) {
      if (error instanceof StreamLost && !error.mayBeExecuted) return consent.recordAccess(request);
      throw error;
    }
  }
}

function toAccessMessage({ tokenHash, dataFrom, ...access }: Access) {
  return { ...access, tokenHash: Buffer.from(tokenHash, 'base64url'), dataFrom: dataFrom ?? '' };
}
