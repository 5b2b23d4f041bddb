import { CHECKPOINT_TYPE, toAnchor } from '@phds/record-chain/checkpoint';
import type { FailureReports } from '@phds/service-kit/background';
import { startPeriodic, startPruning } from '@phds/service-kit/background';
import type { Clock } from '@phds/service-kit/clock';
import type { Logger } from '@phds/service-kit/telemetry/log';
import { createCheckpoints, createCheckpointTable } from './access/checkpoints.ts';
import { countNext, createCounting } from './access/counts.ts';
import { deleteDroppedCounts, moveMonths } from './access/months.ts';
import type { Config } from './config.ts';
import { createJoseSigner } from './jose-signer.ts';
import type { ConsentMetrics } from './metrics.ts';
import { createPruning } from './pruning.ts';
import type { ConnectionPools } from './store/connection-pools.ts';

interface Parts {
  readonly pools: Pick<ConnectionPools, 'checks' | 'months' | 'ordinary'>;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly failureOf: FailureReports;
  readonly metrics: Pick<ConsentMetrics, 'onCovered'>;
}

/** Starts counting, checkpoints, retention and pruning. Disposal waits for them, then signs a last checkpoint. */
export async function startBackgroundTasks(parts: Parts, resources: AsyncDisposableStack): Promise<void> {
  const { pools, config, clock, log, failureOf, metrics } = parts;
  const retentionDays = config.RECORD_RETENTION_DAYS;
  const checkpoints = createCheckpoints({
    table: createCheckpointTable(pools.ordinary),
    signer: await createJoseSigner(config.RECEIPT_PRIVATE_KEY, CHECKPOINT_TYPE),
    clock,
    retentionDays,
    intervalMs: config.CHECKPOINT_INTERVAL_MS,
    // Log stores only append, so the database cannot take this line back.
    onSigned: (jws) => log.info(toAnchor(jws), 'checkpoint of the access records'),
  });
  const repeat = (
    what: string,
    intervalMs: number,
    turn: (signal: AbortSignal) => Promise<unknown>,
    atOnce = false,
  ) => resources.use(startPeriodic(turn, { intervalMs, atOnce, onFailure: failureOf(what) }));

  const checkpointing = 'the checkpoint of the access records';
  resources.defer(async () => {
    await checkpoints.take().catch(failureOf(checkpointing));
  });
  const counting = createCounting((atMost) => countNext(pools.checks, atMost));
  repeat('counting', config.COUNT_INTERVAL_MS, counting);
  repeat(checkpointing, config.CHECKPOINT_INTERVAL_MS, async () => {
    await checkpoints.takeDue();
    metrics.onCovered();
  });
  const move = async (signal: AbortSignal) => {
    const months = await moveMonths(pools.months, retentionDays, signal);
    if (months.length > 0) {
      log.info({ months }, 'months of access records dropped');
      await checkpoints.take();
    }
    await deleteDroppedCounts(pools.months, signal);
  };
  repeat('moving the months of access records', config.PRUNE_INTERVAL_MS, move, true);
  const pruned = createPruning(pools.ordinary);
  resources.use(startPruning(pruned, { intervalMs: config.PRUNE_INTERVAL_MS, failureOf }));
}
