import { type Metrics, measurePools, SIZE_BUCKETS } from '@phds/service-kit/telemetry/metrics';
import type { OutboxState } from './change-reports.ts';

/** The metrics of health-data. docs/operations/observability.md describes all of them. */
export function createHealthDataMetrics(metrics: Metrics) {
  const batches = metrics.histogram(
    { name: 'phds_read_batch_size', help: 'Reads of newest pages that one statement answered.' },
    SIZE_BUCKETS,
  );
  const rows = metrics.gauge({
    name: 'phds_change_outbox_rows',
    help: 'Changes of readings that consent has not been told of, over all instances; counted up to 10,000.',
  });
  const oldest = metrics.gauge({
    name: 'phds_change_outbox_oldest_seconds',
    help: 'Age of the oldest of these changes; 0 if there is none.',
  });
  const imports = metrics.gauge({
    name: 'phds_imports_running',
    help: 'Imports that reported progress in the last five minutes and have not ended, over all instances.',
  });
  return {
    measurePools: (pools: Parameters<typeof measurePools>[1]) => measurePools(metrics, pools),
    onReadBatch: (size: number) => batches.observe(size),
    onOutbox({ rows: waiting, oldestSeconds }: OutboxState): void {
      rows.set(waiting);
      oldest.set(oldestSeconds);
    },
    onImports: (running: number) => imports.set(running),
  };
}

export type HealthDataMetrics = ReturnType<typeof createHealthDataMetrics>;
