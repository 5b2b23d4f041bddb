import { toAnchor } from '@phds/record-chain/anchor';
import { CHECKPOINT_TYPE } from '@phds/record-chain/checkpoint';
import type { FailureReports } from '@phds/service-kit/background-failures';
import type { Clock } from '@phds/service-kit/clock';
import type { Logger } from '@phds/service-kit/telemetry/log';
import type { AccessCountStore, CheckpointStore, PartitionStore } from './app/access-ports.ts';
import { startBackground } from './app/background.ts';
import { createCheckpoints } from './app/checkpoints.ts';
import { createRetention } from './app/retention.ts';
import { createJoseSigner } from './clients/jose-signer.ts';
import type { Config } from './config.ts';
import type { ConsentMetrics } from './metrics.ts';

export interface BackgroundParts {
  readonly stores: {
    readonly counts: AccessCountStore;
    readonly checkpoints: CheckpointStore;
    readonly partitions: PartitionStore;
  };
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly failureOf: FailureReports;
  readonly metrics: Pick<ConsentMetrics, 'measureCheckpoints'>;
}

/** Counting, checkpoints and retention. Disposal signs a last checkpoint. */
export async function startBackgroundTasks(
  parts: BackgroundParts,
  resources: AsyncDisposableStack,
): Promise<void> {
  const { config, clock, log, stores, failureOf, metrics } = parts;
  const retentionDays = config.RECORD_RETENTION_DAYS;
  const background = startBackground({
    counts: stores.counts,
    checkpoints: metrics.measureCheckpoints(
      createCheckpoints({
        checkpoints: stores.checkpoints,
        signer: await createJoseSigner(config.RECEIPT_PRIVATE_KEY, CHECKPOINT_TYPE),
        clock,
        retentionDays,
        intervalMs: config.CHECKPOINT_INTERVAL_MS,
        // Log stores only append, so the database cannot take this line back.
        onSigned: (jws) => log.info(toAnchor(jws), 'checkpoint of the access records'),
      }),
    ),
    retention: createRetention({ partitions: stores.partitions, retentionDays }),
    intervalsMs: {
      count: config.COUNT_INTERVAL_MS,
      checkpoint: config.CHECKPOINT_INTERVAL_MS,
      prune: config.PRUNE_INTERVAL_MS,
    },
    failureOf,
    onDropped: (months) => log.info({ months }, 'months of access records dropped'),
  });
  resources.use(background);
}
