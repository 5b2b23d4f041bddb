import type { Clock } from '@phds/service-kit/clock';
import { invalidRequest, notFound, type Violation } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/user-id';
import {
  checkCount,
  checkImportKey,
  checkReport,
  type ImportKey,
  type ImportProgress,
  type ImportState,
  type ImportStatus,
} from '../domain/import-progress.ts';
import type { ImportStore, ProfileStore } from './ports.ts';

export interface ImportPorts {
  readonly imports: ImportStore;
  readonly zones: Pick<ProfileStore, 'findTimeZone'>;
  readonly clock: Clock;
}

/** An importer's call at the start. */
export interface ImportDraft extends ImportKey {
  /** Bytes. */
  readonly size: number;
  /** Starts from the beginning, even if an earlier run did not finish. */
  readonly again: boolean;
}

/** An importer's progress report. */
export interface ImportReportDraft extends ImportKey, ImportProgress {
  /** Null for an unknown state. */
  readonly state: ImportState | null;
}

const MAX_LISTED = 100;
const MAX_RUN = 2 ** 31 - 1;

/**
 * Returns where the import starts, at the beginning or where an unfinished run stopped, and the person's zone (empty if none). Throws
 * INVALID_REQUEST.
 */
export async function startImport(
  { imports, zones, clock }: ImportPorts,
  { again, size, ...key }: ImportDraft,
): Promise<ImportProgress & { readonly timeZone: string }> {
  parseUserId(key.userId);
  refuse([...checkImportKey(key), ...checkCount('size', size)]);
  const timeZone = (await zones.findTimeZone(key.userId)) ?? '';
  return { ...(await imports.start(key, size, again, clock.now())), timeZone };
}

/** Stores the progress of a run. Throws INVALID_REQUEST, and NOT_FOUND if there is no such import. */
export async function reportImport(
  { imports, clock }: ImportPorts,
  { userId, format, digest, state, ...progress }: ImportReportDraft,
): Promise<void> {
  parseUserId(userId);
  const key = { userId, format, digest };
  const { run, position, report } = progress;
  refuse([
    ...checkImportKey(key),
    ...checkCount('run', run, MAX_RUN),
    ...checkCount('position', position),
    ...checkReport(report),
  ]);
  if (state === null) throw invalidRequest('state', 'must be running, finished or failed');
  if (!(await imports.report(key, progress, state, clock.now()))) throw notFound('There is no such import.');
}

/** The user's imports, the latest first, and their zone (empty if none). Throws INVALID_REQUEST. */
export async function listImports(
  { imports, zones }: ImportPorts,
  userId: string,
): Promise<{ readonly imports: readonly ImportStatus[]; readonly timeZone: string }> {
  parseUserId(userId);
  const timeZone = (await zones.findTimeZone(userId)) ?? '';
  return { imports: await imports.list(userId, MAX_LISTED), timeZone };
}

function refuse(violations: readonly Violation[]): void {
  if (violations.length > 0) throw invalidRequest(violations);
}
