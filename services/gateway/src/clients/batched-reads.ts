import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import {
  Endpoint,
  HealthDataService,
  type ReadRequestSchema,
  type ReadResponse,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { Batcher } from '@phds/service-kit/batcher';
import { type CarriedOrigin, toCarriedOrigin } from '@phds/service-kit/current-origin';
import { Deadline } from '@phds/service-kit/deadline';
import { AppError } from '@phds/service-kit/errors';
import { ASSERTION_METADATA } from '@phds/service-kit/metadata-keys';
import { type CallStream, leastLoaded, StreamLost } from '@phds/service-kit/rpc-call-stream';
import { inCallerSpan } from '@phds/service-kit/rpc-span';

type ReadRequest = MessageInitShape<typeof ReadRequestSchema>;

/** A data request to health-data. */
export interface Read {
  readonly request: ReadRequest;
  readonly assertion: string;
  /** The app, for a fair order of waiting reads. */
  readonly clientId: string;
  /** Whether somebody still waits for the answer. */
  readonly isWanted: () => boolean;
}

/** The client hung up, so its read was not sent. Nobody gets the answer. */
export class ClientGone extends AppError {
  constructor() {
    super('unavailable', '', { cause: new Error('the client is gone') });
  }
}

/** Reads data from health-data. Throws the errors of `Read`, or ClientGone. */
export type ReadData = (read: Read) => Promise<ReadResponse>;

type ReadDesc = (typeof HealthDataService)['method']['read'];

/** A stream that accepts batches of reads. */
export type ReadStream = Pick<
  CallStream<ReadDesc['input'], ReadDesc['output']>,
  'load' | 'send' | 'sentAt' | 'silentMs'
>;

export interface BatchedReadsOptions {
  /** The unary rpc. */
  readonly healthData: Pick<Client<typeof HealthDataService>, 'read'>;
  /** A stream to each replica; empty while there is none. */
  readonly streams: { readonly open: readonly ReadStream[] };
  /** Time limit of a read, in milliseconds. */
  readonly deadlineMs: number;
}

/**
 * A replica gets a second batch beside the first only when at least this many reads wait. Two small batches cost more than one large
 * one; but with one alone, no service works while another does.
 */
const SECOND_BATCH = 12;
/** After this many milliseconds, a batch with unanswered reads no longer delays the next ones. */
const SLOW_BATCH_MS = 100;

interface SentRead extends Read {
  readonly origin: CarriedOrigin;
}

/**
 * Sends reads of newest pages to health-data in batches over a stream for each replica. There is no timer: a batch leaves as soon as a
 * replica has none in flight, or one and enough reads wait for a second, with everything that waits then. Each read is answered by
 * itself. A read whose stream is lost is repeated once by the unary rpc.
 *
 * All other reads use the unary rpc, because they can take long, or have large answers that would delay the others of the stream.
 */
export function createBatchedReads(options: BatchedReadsOptions): ReadData {
  const { healthData, streams, deadlineMs } = options;
  const batches = batchReads(streams);
  const readAlone = async ({ request, assertion, isWanted }: Read, timeoutMs?: number) => {
    if (!isWanted()) throw new ClientGone();
    const headers = { [ASSERTION_METADATA]: assertion };
    return healthData.read(request, { headers, ...(timeoutMs && { timeoutMs }) });
  };
  return async (read) => {
    if (!isOfNewestPage(read.request) || streams.open.length === 0) return readAlone(read);
    const deadline = new Deadline(deadlineMs);
    try {
      const send = () => batches.add({ ...read, origin: toCarriedOrigin() }, deadline);
      return await inCallerSpan(HealthDataService.method.read, send);
    } catch (error) {
      if (!read.isWanted()) throw new ClientGone();
      if (!(error instanceof StreamLost) || deadline.remainingMs() === 0) throw error;
      return readAlone(read, deadline.remainingMs());
    }
  };
}

/** Whether the read is of the newest readings of a category or a type, which health-data finds in one index. */
function isOfNewestPage({ endpoint, parameters }: ReadRequest): boolean {
  const { page, from = '', to = '', updatedSince = '' } = parameters ?? {};
  return endpoint === Endpoint.HEALTH_DATA && (page?.page ?? 1) <= 1 && from + to + updatedSince === '';
}

/** Batches for the replicas, each for the least loaded one, so that a replica that hangs gets few of the reads. */
function batchReads(streams: BatchedReadsOptions['streams']): Batcher<SentRead, ReadResponse> {
  return new Batcher({
    keyOf: ({ clientId }) => clientId,
    isWanted: (read) => read.isWanted(),
    atOnce: (waiting) => (waiting < SECOND_BATCH ? 1 : 2) * Math.max(1, streams.open.length),
    slowMs: SLOW_BATCH_MS,
    send: (batch) => {
      const stream = leastLoaded(streams.open);
      if (stream === undefined) {
        for (const read of batch) read.reject(new StreamLost(new Error('no stream is open'), false));
        return;
      }
      stream.send(
        batch.map((read) => ({
          ...read.item,
          timeoutMs: read.deadline?.remainingMs() ?? 0,
          resolve: (response) => read.resolve(response),
          reject: (error) => read.reject(error),
        })),
      );
    },
  });
}
