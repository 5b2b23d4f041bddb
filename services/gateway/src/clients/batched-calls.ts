import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { isAmongNewest, toPage } from '@phds/catalog/pagination';
import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import {
  Endpoint,
  HealthDataService,
  type ReadRequestSchema,
  type ReadResponse,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError } from '@phds/service-kit/errors';
import { createBatchedCalls, MAX_CALLS } from '@phds/service-kit/rpc/batch-rpc';
import { ASSERTION_METADATA } from '@phds/service-kit/rpc/context';

type ReadRequest = MessageInitShape<typeof ReadRequestSchema>;

/** A data request to health-data. */
export interface Read {
  readonly request: ReadRequest;
  readonly assertion: string;
  /** The app, for a fair order of waiting reads. */
  readonly clientId: string;
  /** Whether somebody still waits for the answer. */
  readonly isWanted: () => boolean;
  /** For FHIR: whether it is a newest search. */
  readonly isNewestSearch?: boolean;
}

/** The client hung up, so its read was not sent. Nobody gets the answer. */
export class ClientGone extends AppError {
  constructor() {
    super('unavailable', '', { cause: new Error('the client is gone') });
  }
}

/** Reads data from health-data. Throws the errors of `Read`, or ClientGone. */
export type ReadData = (read: Read) => Promise<ReadResponse>;

/** The rpcs that read. */
export type ReadRpcs = Pick<Client<typeof HealthDataService>, 'read' | 'reads'>;

/**
 * A second batch leaves beside the first only when at least this many reads wait: two small batches cost more than one large one, but
 * with one alone, no service works while another does.
 */
const SECOND_BATCH = 12;

/** Full batches that wait go out as well, so that a gateway uses all replicas when it has much to read. */
function batchesAtOnce(waiting: number): number {
  return waiting < SECOND_BATCH ? 1 : 2 + Math.floor(waiting / MAX_CALLS);
}

/**
 * Reads from health-data, the newest pages and searches in batches. All other reads have a call of their own, because they can take long, or have
 * large answers that would delay the others of the batch.
 *
 * @param deadlineMs Time limit of a read, in milliseconds.
 */
export function createBatchedReads(healthData: ReadRpcs, deadlineMs: number): ReadData {
  const inBatch = createBatchedCalls({
    method: HealthDataService.method.read,
    batch: healthData.reads,
    deadlineMs,
    atOnce: batchesAtOnce,
  });
  return async ({ clientId: key, isNewestSearch = false, ...read }) => {
    try {
      if (isNewestSearch || isOfNewestPage(read.request)) return await inBatch({ ...read, key });
      if (!read.isWanted()) throw new ClientGone();
      return await healthData.read(read.request, { headers: { [ASSERTION_METADATA]: read.assertion } });
    } catch (error) {
      if (!read.isWanted()) throw new ClientGone();
      throw error;
    }
  };
}

/** Whether the read is of a newest page of a category or a type, which health-data reads in statements that apps share. */
function isOfNewestPage({ endpoint, parameters, fhir }: ReadRequest): boolean {
  const { page, from = '', to = '', updatedSince = '' } = parameters ?? {};
  const isOfReadings = fhir === undefined && endpoint === Endpoint.HEALTH_DATA;
  return isOfReadings && isAmongNewest(toPage(page)) && from + to + updatedSince === '';
}

function isReusable(client: { readonly clientAssertion?: string | undefined } | undefined): boolean {
  return client?.clientAssertion === undefined;
}

/** The rpcs of authorization that are called most, in batches. */
export type TokenCalls = ReturnType<typeof createTokenCalls>;

/**
 * Calls authorization in batches, one at a time: what arrives meanwhile shares statements and commits. What may have been used is not
 * sent again: a code would be a replay, which ends the tokens, and a DPoP proof or a client assertion would be refused.
 *
 * @param deadlineMs Time limit of a call, in milliseconds.
 */
export function createTokenCalls(
  tokens: Pick<Client<typeof TokenService>, 'issueTokens' | 'introspectOwnTokens' | 'introspectTokens'>,
  deadlineMs: number,
) {
  const { issueToken, introspectOwnToken, introspect } = TokenService.method;
  return {
    issueToken: createBatchedCalls({
      method: issueToken,
      batch: tokens.issueTokens,
      deadlineMs,
      isRepeatable: ({ code, dpop, client }) =>
        code === undefined && dpop === undefined && isReusable(client),
    }),
    introspectOwnToken: createBatchedCalls({
      method: introspectOwnToken,
      batch: tokens.introspectOwnTokens,
      deadlineMs,
      isRepeatable: ({ client }) => isReusable(client),
    }),
    introspect: createBatchedCalls({ method: introspect, batch: tokens.introspectTokens, deadlineMs }),
  };
}
