import type { DescMethod } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { OperatorActService } from '@phds/contracts/phds/consent/v1/operator_acts_pb';
import { toCarriedIds } from '../current-work.ts';
import { invalidRequest, toAppError } from '../errors.ts';
import { isUserId } from '../ids.ts';
import { translateDatabaseError } from '../postgres/errors.ts';
import type { Logger } from '../telemetry/log.ts';
import { createSecurityLog } from '../telemetry/log.ts';
import type { RpcChannel } from './client.ts';
import { REASON_METADATA, type RpcContext } from './context.ts';
import { codeOf, toRpcName } from './errors.ts';

/** Maximum length of a reason, in characters. */
export const MAX_REASON_LENGTH = 500;

/** What an operator is about to do. Absent ids and an absent reason are empty. */
export interface OperatorAct {
  /** Name of the operator. */
  readonly operator: string;
  /** Full name of the rpc. */
  readonly rpc: string;
  readonly userId: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly reason: string;
  readonly requestId: string;
  /** Whether the rpc changes something. */
  readonly changes: boolean;
}

/** The operators' record, which consent keeps. */
export interface OperatorRecord {
  /** Records an act, and returns its number. Throws `unavailable` when it is not certain that the act is recorded. */
  begin(act: OperatorAct): Promise<bigint>;
  /** Records how an act ended: the code of its answer. */
  end(number: bigint, outcome: string): Promise<void>;
}

/** The operators' record for services other than consent. */
export function createOperatorRecordClient(consent: RpcChannel): OperatorRecord {
  const client = consent.client(OperatorActService);
  return {
    begin: async (act) => (await client.beginAct(act)).number,
    async end(number, outcome) {
      await client.endAct({ number, outcome });
    },
  };
}

/** Parts of an operator's call. */
interface OperatorCall {
  readonly operator: string;
  readonly request: object;
  readonly context: RpcContext;
  readonly record: OperatorRecord;
  readonly log: Logger;
}

/**
 * Runs an operator's call: records it first, then makes it, then records the outcome of a change. Throws `invalid_request` for a change
 * without a reason, and `unavailable`, with nothing done, when the act cannot be recorded.
 */
export async function runOperatorCall<T>(call: OperatorCall, work: () => Promise<T>): Promise<T> {
  const { context, record, log } = call;
  const { method } = context;
  const note = (outcome: string) => {
    const fields = { route: toRpcName(method), outcome, operator: call.operator };
    createSecurityLog(log)('operator-act', fields);
  };
  try {
    const numbers: bigint[] = [];
    for (const act of toActs(call)) numbers.push(await record.begin(act));
    const end = async (outcome: string) => {
      if (isRead(method)) return;
      for (const number of numbers) {
        // The act is recorded and made. A missing outcome shows in the record, and must not turn the answer into a failure.
        await record.end(number, outcome).catch((err: unknown) => {
          log.error({ err, number: String(number) }, 'the outcome of an operator act is not recorded');
        });
      }
    };
    const answer = await work().catch(async (error: unknown) => {
      await end(codeOf(toAppError(error)));
      throw error;
    });
    await end('OK');
    note('OK');
    return answer;
  } catch (error) {
    note(codeOf(translateDatabaseError(error)));
    throw error;
  }
}

/** One entry, or two for what is taken from one person and given to another, so that each of them sees it. */
function toActs(call: OperatorCall): OperatorAct[] {
  const act = toAct(call);
  const fromUserId = textOf(call.request, 'fromUserId');
  return fromUserId === '' ? [act] : [{ ...act, userId: fromUserId }, act];
}

function toAct({ operator, request, context }: OperatorCall): OperatorAct {
  return {
    operator,
    rpc: toRpcName(context.method),
    userId: textOf(request, 'userId'),
    clientId: textOf(request, 'clientId'),
    grantId: textOf(request, 'grantId'),
    reason: parseReason(context),
    requestId: toCarriedIds(),
    changes: !isRead(context.method),
  };
}

/** An id in the request. What can be no id is left out: the rpc refuses it. */
function textOf(request: object, field: string): string {
  const value = (request as Readonly<Record<string, unknown>>)[field];
  return isUserId(value) ? value : '';
}

/** Whether the rpc changes nothing, as its proto says. */
function isRead({ idempotency }: DescMethod): boolean {
  return idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

function parseReason(context: RpcContext): string {
  const reason = decode(context.findMetadata(REASON_METADATA) ?? '').trim();
  if (reason === '' && !isRead(context.method))
    throw invalidRequest('reason', 'is missing: changes by operators need one');
  if (reason.length > MAX_REASON_LENGTH) {
    throw invalidRequest('reason', `must have at most ${MAX_REASON_LENGTH} characters`);
  }
  if (/\p{Cc}/u.test(reason)) throw invalidRequest('reason', 'must not contain control characters');
  return reason;
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw invalidRequest('reason', 'is not percent-encoded UTF-8');
  }
}
