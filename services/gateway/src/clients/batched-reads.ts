import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import {
  Endpoint,
  HealthDataService,
  type ReadRequestSchema,
  type ReadResponse,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { type CarriedOrigin, toCarriedOrigin } from '@phds/service-kit/current-origin';
import { AppError, unavailable } from '@phds/service-kit/errors';
import { ASSERTION_METADATA } from '@phds/service-kit/metadata-keys';
import { type CallStream, StreamLost } from '@phds/service-kit/rpc-call-stream';
import { inCallerSpan } from '@phds/service-kit/rpc-span';
import { FairQueue } from './fair-queue.ts';

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
export type ReadStream = Pick<CallStream<ReadDesc['input'], ReadDesc['output']>, 'load' | 'send'>;

export interface BatchedReadsOptions {
  /** The unary rpc. */
  readonly healthData: Pick<Client<typeof HealthDataService>, 'read'>;
  /** A stream to each replica; empty while there is none. */
  readonly streams: { readonly open: readonly ReadStream[] };
  /** Time limit of a read, in milliseconds. */
  readonly deadlineMs: number;
}

/** For each replica. More made batches smaller, and with them everything that is done once for a batch more expensive. */
const BATCHES_IN_FLIGHT = 2;
const MAX_BATCH = 64;
const MAX_WAITING = 2_000;
/** After this many milliseconds, a batch with unanswered reads no longer delays the next ones. */
const SLOW_BATCH_MS = 100;

interface Waiting extends Read {
  readonly origin: CarriedOrigin;
  /** Monotonic milliseconds. */
  readonly endsAt: number;
  readonly resolve: (response: ReadResponse) => void;
  readonly reject: (error: AppError) => void;
}

/**
 * Sends reads of newest pages to health-data in batches over a stream for each replica. There is no timer: a batch leaves as soon as a
 * replica has fewer than two in flight, with everything that waits then. Each read is answered by itself. A read whose stream is lost
 * is repeated once by the unary rpc.
 *
 * All other reads use the unary rpc, because they can take long, or have large answers that would delay the others of the stream.
 */
export function createBatchedReads(options: BatchedReadsOptions): ReadData {
  const { healthData, streams, deadlineMs } = options;
  const batches = new ReadBatches(streams);
  const readAlone = async ({ request, assertion, isWanted }: Read, timeoutMs?: number) => {
    if (!isWanted()) throw new ClientGone();
    const headers = { [ASSERTION_METADATA]: assertion };
    return healthData.read(request, { headers, ...(timeoutMs && { timeoutMs }) });
  };
  return async (read) => {
    if (!isOfNewestPage(read.request) || streams.open.length === 0) return readAlone(read);
    const endsAt = performance.now() + deadlineMs;
    try {
      return await inCallerSpan(HealthDataService.method.read, () => batches.add(read, endsAt));
    } catch (error) {
      if (!(error instanceof StreamLost)) throw error;
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) throw error;
      return readAlone(read, leftMs);
    }
  };
}

/** Whether the read is of the newest readings of a category or a type, which health-data finds in one index. */
function isOfNewestPage({ endpoint, parameters }: ReadRequest): boolean {
  const { page, from = '', to = '', updatedSince = '' } = parameters ?? {};
  return endpoint === Endpoint.HEALTH_DATA && (page?.page ?? 1) <= 1 && from + to + updatedSince === '';
}

class ReadBatches {
  readonly #streams: BatchedReadsOptions['streams'];
  readonly #waiting = new FairQueue<Waiting>();
  readonly #inFlight = new WeakMap<ReadStream, number>();
  #isScheduled = false;

  constructor(streams: BatchedReadsOptions['streams']) {
    this.#streams = streams;
  }

  add(read: Read, endsAt: number): Promise<ReadResponse> {
    if (this.#waiting.size >= MAX_WAITING) {
      return Promise.reject(unavailable(new Error('too many reads are waiting')));
    }
    const { promise, resolve, reject } = Promise.withResolvers<ReadResponse>();
    this.#waiting.add(read.clientId, { ...read, origin: toCarriedOrigin(), endsAt, resolve, reject });
    this.#sendSoon();
    return promise;
  }

  /** At the end of this turn, so that reads that arrive in it leave together. */
  #sendSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sendAll();
    });
  }

  #sendAll(): void {
    while (this.#waiting.size > 0) {
      const stream = this.#findFree();
      if (stream !== undefined) this.#send(stream, this.#takeBatch());
      else if (this.#streams.open.length > 0) return;
      else this.#waiting.take()?.reject(new StreamLost(new Error('no stream is open'), false));
    }
  }

  /** The least loaded stream, so that a replica that hangs gets few of the reads. */
  #findFree(): ReadStream | undefined {
    let free: ReadStream | undefined;
    for (const stream of this.#streams.open) {
      if ((this.#inFlight.get(stream) ?? 0) >= BATCHES_IN_FLIGHT) continue;
      if (free === undefined || stream.load < free.load) free = stream;
    }
    return free;
  }

  /** Leaves out reads that nobody waits for any more. */
  #takeBatch(): Waiting[] {
    const now = performance.now();
    const batch: Waiting[] = [];
    while (batch.length < MAX_BATCH) {
      const read = this.#waiting.take();
      if (read === undefined) break;
      if (!read.isWanted()) read.reject(new ClientGone());
      else if (read.endsAt <= now) read.reject(unavailable(new Error('waited too long for a batch')));
      else batch.push(read);
    }
    return batch;
  }

  #send(stream: ReadStream, batch: readonly Waiting[]): void {
    if (batch.length === 0) return;
    const free = this.#occupy(stream);
    let unanswered = batch.length;
    const settle = () => {
      unanswered -= 1;
      if (unanswered === 0) free();
    };
    const now = performance.now();
    stream.send(
      batch.map(({ request, assertion, origin, endsAt, resolve, reject }) => ({
        request,
        assertion,
        origin,
        timeoutMs: endsAt - now,
        resolve: (response) => {
          settle();
          resolve(response);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      })),
    );
  }

  /** Counts a batch in flight until the returned function is called, or until the batch is slow. */
  #occupy(stream: ReadStream): () => void {
    this.#inFlight.set(stream, (this.#inFlight.get(stream) ?? 0) + 1);
    let isCounted = true;
    const free = () => {
      if (!isCounted) return;
      isCounted = false;
      clearTimeout(slow);
      this.#inFlight.set(stream, (this.#inFlight.get(stream) ?? 0) - 1);
      this.#sendSoon();
    };
    const slow = setTimeout(free, SLOW_BATCH_MS);
    return free;
  }
}
