import { create } from '@bufbuild/protobuf';
import type { CallOptions } from '@connectrpc/connect';
import {
  Endpoint,
  type ReadResponse,
  ReadResponseSchema,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError, type Reason, unavailable } from '@phds/service-kit/errors';
import { eventually } from '@phds/test-kit/conditions';
import {
  createBatchedReads,
  type Read,
  type ReadData,
  type ReadStream,
} from '../src/clients/batched-reads.ts';

type Sent = Parameters<ReadStream['send']>[0][number];

export const HEART = { endpoint: Endpoint.HEALTH_DATA, category: 'heart' };

const idOf = ({ request }: Pick<Sent, 'request'>) => request.requestId ?? '';

export function responseOf(etag: string): ReadResponse {
  return create(ReadResponseSchema, { etag });
}

export const etagOf = async (outcome: Promise<ReadResponse>) => (await outcome).etag;

/** The reason of an error; null if there is none. */
export async function reasonOf(outcome: Promise<unknown> | undefined): Promise<Reason | null> {
  const error = await outcome?.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof AppError ? error.reason : null;
}

/** A stream to a replica that answers when the test says so. */
export class FakeStream implements ReadStream {
  readonly batches: (readonly Sent[])[] = [];
  load = 0;
  sentAt = 0;
  silentMs = 0;

  send(reads: readonly Sent[]): void {
    this.batches.push(reads);
    this.load += reads.length;
  }

  /** The request ids of a batch. */
  ids(index: number): string[] {
    return (this.batches[index] ?? []).map(idOf);
  }

  /** Answers each read of a batch with its id as entity tag. */
  answer(index: number): void {
    for (const read of this.batches[index] ?? []) read.resolve(responseOf(idOf(read)));
  }

  /** Fails every unanswered read. */
  fail(error: AppError): void {
    for (const read of this.batches.flat()) read.reject(error);
  }

  async whenSent(batches: number): Promise<void> {
    await eventually(() => this.batches.length === batches);
  }
}

/** Batched reads over fake streams, with a fake of the unary rpc. */
export class BatchedReads implements Disposable {
  readonly stream = new FakeStream();
  /** The open streams; tests replace them. */
  open: FakeStream[] = [this.stream];
  /** The request ids of unary calls. */
  readonly alone: string[] = [];
  /** Their time limits, in milliseconds; undefined for the usual one. */
  readonly aloneTimeouts: (number | undefined)[] = [];
  /** The response of the unary rpc; tests replace it. */
  readAlone = (id: string): ReadResponse => responseOf(`alone ${id}`);
  readonly #readData: ReadData;

  constructor(deadlineMs = 20_000) {
    const healthData = {
      read: async ({ requestId = '' }: { requestId?: string }, { timeoutMs }: CallOptions = {}) => {
        this.alone.push(requestId);
        this.aloneTimeouts.push(timeoutMs);
        return this.readAlone(requestId);
      },
    };
    this.#readData = createBatchedReads({ healthData, streams: this, deadlineMs });
  }

  read(requestId: string, { request = HEART, ...changes }: Partial<Read> = {}): Promise<ReadResponse> {
    const outcome = this.#readData({
      request: { ...request, requestId },
      assertion: 'a.b.c',
      clientId: 'app_1',
      isWanted: () => true,
      ...changes,
    });
    // The test may check it later.
    outcome.catch(() => undefined);
    return outcome;
  }

  readMany(count: number, prefix: string, changes: Partial<Read> = {}): Promise<ReadResponse>[] {
    return Array.from({ length: count }, (_, index) => this.read(`${prefix}${index}`, changes));
  }

  /** Sends batches that stay unanswered, so that later reads wait: few for one batch, any number for two. */
  async fill(batches = 1): Promise<void> {
    void this.readMany(batches * 64, 'first');
    await this.stream.whenSent(batches);
  }

  /** No read waits for ever. */
  [Symbol.dispose](): void {
    this.stream.fail(unavailable());
  }
}
