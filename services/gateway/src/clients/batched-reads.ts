import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import {
  Endpoint,
  HealthDataService,
  type ReadRequestSchema,
  type ReadResponse,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError } from '@phds/service-kit/errors';
import { createStreamedCalls, type OpenStreams } from '@phds/service-kit/rpc/streamed-calls';

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

type ReadStreams = OpenStreams<ReadDesc['input'], ReadDesc['output']>;
/** A stream that accepts batches of reads. */
export type ReadStream = ReadStreams['open'][number];

interface BatchedReadsOptions {
  /** The unary rpc. */
  readonly healthData: Pick<Client<typeof HealthDataService>, 'read'>;
  readonly streams: ReadStreams;
  /** Time limit of a read, in milliseconds. */
  readonly deadlineMs: number;
}

/**
 * A replica gets a second batch beside the first only when at least this many reads wait. Two small batches cost more than one large
 * one; but with one alone, no service works while another does.
 */
const SECOND_BATCH = 12;

/**
 * Sends reads of newest pages to health-data over streams. All other reads use the unary rpc, because they can take long, or have large
 * answers that would delay the others of the stream.
 */
export function createBatchedReads({ healthData, streams, deadlineMs }: BatchedReadsOptions): ReadData {
  const { read: method } = HealthDataService.method;
  const { read: unary } = healthData;
  const batches = (waiting: number) => (waiting < SECOND_BATCH ? 1 : 2);
  const call = createStreamedCalls({ method, unary, streams, deadlineMs, batches });
  return async ({ clientId: key, ...read }) => {
    try {
      return await call({ ...read, key, isAlone: !isOfNewestPage(read.request) });
    } catch (error) {
      if (!read.isWanted()) throw new ClientGone();
      throw error;
    }
  };
}

/** Whether the read is of the newest readings of a category or a type, which health-data reads in statements that apps share. */
function isOfNewestPage({ endpoint, parameters, fhir }: ReadRequest): boolean {
  const { page, from = '', to = '', updatedSince = '' } = parameters ?? {};
  const isOfReadings = fhir === undefined && endpoint === Endpoint.HEALTH_DATA;
  return isOfReadings && (page?.page ?? 1) <= 1 && from + to + updatedSince === '';
}
