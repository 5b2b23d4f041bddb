import { startPeriodic } from '@phds/service-kit/background';
import type { Clock } from '@phds/service-kit/clock';
import type { ChangeOutbox, OutboxState } from './change-reports.ts';
import type { Imports } from './imports.ts';

const INTERVAL_MS = 15_000;

/** An import that has not reported for this long was given up by its importer. */
const RUNNING_MS = 5 * 60_000;

export interface MeasurementOptions {
  readonly outbox: Pick<ChangeOutbox, 'measure'>;
  readonly imports: Pick<Imports, 'countRunning'>;
  readonly clock: Clock;
  readonly onOutbox: (state: OutboxState) => void;
  readonly onImports: (running: number) => void;
  /** By what a task does: receives the error of a failed run; the next run tries again. */
  readonly failureOf: (task: string) => (error: unknown) => void;
}

/** Reads, every 15 s, the state that is in the database only. Disposal waits for a running measurement. */
export function startMeasurements(options: MeasurementOptions): AsyncDisposable {
  const { outbox, imports, clock, onOutbox, onImports, failureOf } = options;
  const measure = async () => {
    onOutbox(await outbox.measure());
    onImports(await imports.countRunning(new Date(clock.now().getTime() - RUNNING_MS)));
  };
  const onFailure = failureOf('measuring the changes and imports');
  return startPeriodic(measure, { intervalMs: INTERVAL_MS, atOnce: true, onFailure });
}
