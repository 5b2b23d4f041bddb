import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  HealthDataService,
  type ReadRequestSchema,
  type ReadResponse,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import type { AppError } from '@phds/service-kit/errors';
import { openCallStreams } from '@phds/service-kit/rpc/call-streams';
import { ASSERTION_METADATA } from '@phds/service-kit/rpc/context';
import { eventually } from '@phds/test-kit/conditions';
import type { Harness } from './harness.ts';

export interface BatchedRead {
  readonly request: MessageInitShape<typeof ReadRequestSchema>;
  /** As `Harness.about` returns it. */
  readonly headers?: Record<string, string>;
  readonly timeoutMs?: number;
}

/** The response, or the error. */
export type Outcome = ReadResponse | AppError;

/** The stream of a gateway, which sends reads in one message. */
export interface ReadBatches extends Disposable {
  send(reads: readonly BatchedRead[]): Promise<Promise<Outcome>[]>;
}

export function openReadBatches(harness: Harness): ReadBatches {
  const { read, reads } = HealthDataService.method;
  const streams = openCallStreams({
    address: `127.0.0.1:${harness.rpcPort}`,
    audience: 'health-data',
    tokens: () => harness.serviceToken('gateway'),
    method: reads,
    carried: read,
    onFailure: (error) => {
      throw error;
    },
  });
  return {
    async send(batch) {
      const stream = await eventually(() => streams.open[0] ?? false);
      const outcomes = batch.map(() => Promise.withResolvers<Outcome>());
      stream.send(
        batch.map(({ request, headers, timeoutMs = 20_000 }, index) => ({
          request,
          assertion: headers?.[ASSERTION_METADATA] ?? '',
          timeoutMs,
          resolve: (response) => outcomes[index]?.resolve(response),
          reject: (error) => outcomes[index]?.resolve(error),
        })),
      );
      return outcomes.map(({ promise }) => promise);
    },
    [Symbol.dispose]: () => streams[Symbol.dispose](),
  };
}
