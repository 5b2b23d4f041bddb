import { type Metrics, SIZE_BUCKETS } from '@phds/service-kit/telemetry/metrics';
import type { ChangeOutbox } from './change-reports.ts';
import type { Imports } from './imports.ts';

/** An import that has not reported for this long was given up by its importer. */
const RUNNING_MS = 5 * 60_000;

/** The metrics of health-data. docs/operations/observability.md lists all of them. */
export function createHealthDataMetrics(metrics: Metrics) {
  const batches = metrics.histogram(
    {
      name: 'phds_read_batch_size',
      help: 'Reads of newest pages, or newest searches, that one statement answered.',
    },
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
    onReadBatch: (size: number) => batches.observe(size),
    /** Reads the state that is in the database only. */
    async measure(outbox: ChangeOutbox, { countRunning }: Imports, now: Date): Promise<void> {
      const waiting = await outbox.measure();
      rows.set(waiting.rows);
      oldest.set(waiting.oldestSeconds);
      imports.set(await countRunning(new Date(now.getTime() - RUNNING_MS)));
    },
  };
}
