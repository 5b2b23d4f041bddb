import type { NewNotice } from '../domain/notice.ts';
import { toEndingNotice, toUnusualNotice } from '../domain/scanned-grant.ts';
import type { NoticeScanStore, ScannedGrants } from './notice-ports.ts';

/** Grants in one transaction, which lasts some milliseconds. */
const GRANTS_AT_ONCE = 1_000;

/**
 * Looks at all unexpired grants for coming ends and unusual reading, at most once in `intervalMs` over all instances. After an
 * interruption the next run goes on where it stopped.
 */
export async function scanForNotices(
  store: NoticeScanStore,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const options = { intervalMs, size: GRANTS_AT_ONCE };
  while (!signal.aborted && (await store.scanNext(options, toNotices)));
}

function toNotices({ now, ending, heavyDays }: ScannedGrants): NewNotice[] {
  return [
    ...ending.map((grant) => toEndingNotice(grant, now)),
    ...heavyDays.map((heavy) => toUnusualNotice(heavy, now)),
  ].filter((notice) => notice !== null);
}
