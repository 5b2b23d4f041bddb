import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  HealthDataService,
  type ReadRequestSchema,
  type ReadResponse,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import type { AppError } from '@phds/service-kit/errors';
import { createBatchedCalls } from '@phds/service-kit/rpc/batch-rpc';
import { ASSERTION_METADATA } from '@phds/service-kit/rpc/context';
import type { Harness } from './harness.ts';

export interface BatchedRead {
  readonly request: MessageInitShape<typeof ReadRequestSchema>;
  /** As `Harness.about` returns it. */
  readonly headers?: Record<string, string>;
}

/** The response, or the error. */
export type Outcome = ReadResponse | AppError;

/** Sends reads in one message, as a gateway does. */
type ReadAll = (reads: readonly BatchedRead[]) => Promise<Outcome[]>;

export function createReadAll({ reads: client }: Harness): ReadAll {
  const read = createBatchedCalls({
    method: HealthDataService.method.read,
    batch: client.reads,
    deadlineMs: 20_000,
  });
  return (reads) =>
    Promise.all(
      reads.map(({ request, headers }) =>
        read({ request, assertion: headers?.[ASSERTION_METADATA] ?? '' }).catch((error: AppError) => error),
      ),
    );
}
