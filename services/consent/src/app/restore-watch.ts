import type { Logger } from '@phds/service-kit/log';
import { startPeriodic } from './periodic.ts';
import type { RestoreLog } from './restores.ts';

/**
 * Looks at once, so that what is approved from the first call on is newer than a restore, and then now and then. What a restore
 * suspends does not wait for it. Disposing ends it.
 */
export async function startRestoreWatch(
  restores: Pick<RestoreLog, 'notice'>,
  { intervalMs, log }: { readonly intervalMs: number; readonly log: Pick<Logger, 'error' | 'warn'> },
): Promise<AsyncDisposable> {
  const onFailure = (err: unknown) => log.warn({ err }, 'looking for a restore of the database failed');
  const look = async () => {
    const restore = await restores.notice();
    if (restore === null) return;
    const { number } = restore;
    log.error({ number }, 'the database was restored: what is older is suspended until an operator confirms');
  };
  await look().catch(onFailure);
  return startPeriodic(look, { intervalMs, onFailure });
}
