import type { NewNotice } from '../domain/notice.ts';
import { toEndingNotice, toUnusualNotice } from '../domain/scanned-grant.ts';
import type { NoticeScanStore, ScannedGrants } from './notice-ports.ts';

/** Grants in one transaction, which lasts some milliseconds. */
const GRANTS_AT_ONCE = 1_000;
/** Transactions of one run, so that a search over many grants is spread over several runs. */
const PARTS_AT_ONCE = 100;

/**
 * Checks all unexpired grants for coming ends and unusual reading, at most once in `intervalMs` over all instances. The next run goes
 * on where this one ended or was interrupted.
 */
export async function scanForNotices(
  store: NoticeScanStore,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const options = { intervalMs, size: GRANTS_AT_ONCE };
  for (let part = 0; part < PARTS_AT_ONCE && !signal.aborted; part += 1) {
    if (!(await store.scanNext(options, toNotices))) return;
  }
}

function toNotices({ now, ending, heavyDays }: ScannedGrants): NewNotice[] {
  return [
    ...ending.map((grant) => toEndingNotice(grant, now)),
    ...heavyDays.map((heavy) => toUnusualNotice(heavy, now)),
  ].filter((notice) => notice !== null);
}
