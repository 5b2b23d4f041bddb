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
import type { ImportStore } from './ports.ts';

export interface ImportPorts {
  readonly imports: ImportStore;
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

/** Returns where the import starts: at the beginning, or where an unfinished run stopped. Throws INVALID_REQUEST. */
export async function startImport(
  { imports, clock }: ImportPorts,
  { again, size, ...key }: ImportDraft,
): Promise<ImportProgress> {
  parseUserId(key.userId);
  refuse([...checkImportKey(key), ...checkCount('size', size)]);
  return imports.start(key, size, again, clock.now());
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

/** The user's imports, the latest first. Throws INVALID_REQUEST. */
export async function listImports(
  { imports }: ImportPorts,
  userId: string,
): Promise<readonly ImportStatus[]> {
  parseUserId(userId);
  return imports.list(userId, MAX_LISTED);
}

function refuse(violations: readonly Violation[]): void {
  if (violations.length > 0) throw invalidRequest(violations);
}
