import { AppError, notFound } from '@phds/service-kit/errors';
import type { Access, AccessEntry, AppUsage, Verdict } from '../domain/access.ts';
import type { AccessFilter, AccessHistory, AccessRecorder, Listed, Page } from './ports.ts';

/** No data without a record, no data after a revocation (contract section 8). */
export interface Accesses {
  /**
   * Records, commits, and only then judges: one verdict each, in order. Throws `access_not_recorded` for the whole batch when
   * any step fails; a record may then tell of an answer that never left, never the reverse.
   */
  record(accesses: readonly Access[]): Promise<Verdict[]>;
  /** Throws `not_found` for a foreign grant. */
  list(userId: string, filter: AccessFilter, page: Page): Promise<Listed<AccessEntry>>;
  /** Throws `not_found` unless the user owns the app. */
  usage(clientId: string, ownerId: string, range: { from: string; to: string } | null): Promise<AppUsage[]>;
}

export function createAccesses(ports: {
  readonly recorder: AccessRecorder;
  readonly history: AccessHistory;
  readonly newRecordId: () => string;
}): Accesses {
  const { recorder, history, newRecordId } = ports;
  return {
    async record(accesses) {
      const identified = accesses.map((access) => ({ ...access, recordId: newRecordId() }));
      try {
        await recorder.record(identified);
        const verdicts = await recorder.judge(identified);
        const refusals = identified.flatMap(({ recordId }, index) => {
          // A verdict that is missing must never read as released.
          const verdict = verdicts[index] ?? 'app_not_alive';
          return verdict === 'released' ? [] : [{ recordId, verdict }];
        });
        if (refusals.length > 0) await recorder.refuse(refusals);
        return verdicts;
      } catch (cause) {
        throw new AppError('access_not_recorded', 'The access could not be recorded.', {
          cause,
          retryAfterSeconds: 1,
        });
      }
    },
    async list(userId, filter, page) {
      const listed = await history.list(userId, filter, page);
      if (listed === null) throw notFound();
      return listed;
    },
    async usage(clientId, ownerId, range) {
      const usage = await history.usage(clientId, ownerId, range);
      if (usage === null) throw notFound();
      return usage;
    },
  };
}
