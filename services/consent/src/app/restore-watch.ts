import { startPeriodic } from '@phds/service-kit/periodic';
import type { RestoreLog } from './restores.ts';

type Say = (details: object, text: string) => void;

export interface RestoreWatchOptions {
  /** Milliseconds between two looks. */
  readonly intervalMs: number;
  readonly log: { readonly error: Say; readonly warn: Say };
}

/**
 * Looks at once, and then now and then; what a restore suspends does not wait for it. Says once of each restore that it waits for a
 * confirmation. Disposing ends it.
 */
export async function startRestoreWatch(
  restores: Pick<RestoreLog, 'notice' | 'findLatest'>,
  { intervalMs, log }: RestoreWatchOptions,
): Promise<AsyncDisposable> {
  let told = 0;
  const look = async () => {
    await restores.notice();
    const latest = await restores.findLatest();
    if (latest === null || latest.confirmedAt !== null || latest.number === told) return;
    told = latest.number;
    log.error(
      { number: told },
      'the database was restored: what is older is suspended until an operator confirms',
    );
  };
  const onFailure = (err: unknown) => log.warn({ err }, 'looking for a restore of the database failed');
  await look().catch(onFailure);
  return startPeriodic(look, { intervalMs, onFailure });
}
