import type { Clock } from '@phds/service-kit/clock';
import { invalidRequest, notFound, type Violation } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import { readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import {
  checkCount,
  checkImportKey,
  checkReport,
  type ImportKey,
  type ImportProgress,
  type ImportState,
  type ImportStatus,
} from './domain/import-progress.ts';
import type { Profiles } from './profiles.ts';

export interface ImportParts {
  readonly imports: Imports;
  readonly zones: Pick<Profiles, 'findTimeZone'>;
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
  { imports, zones, clock }: ImportParts,
  { again, size, ...key }: ImportDraft,
): Promise<ImportProgress & { readonly timeZone: string }> {
  parseUserId(key.userId);
  refuse([...checkImportKey(key), ...checkCount('size', size)]);
  const timeZone = (await zones.findTimeZone(key.userId)) ?? '';
  return { ...(await imports.start(key, size, again, clock.now())), timeZone };
}

/** Stores the progress of a run. Throws INVALID_REQUEST, and NOT_FOUND if there is no such import. */
export async function reportImport(
  { imports, clock }: ImportParts,
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
  { imports, zones }: ImportParts,
  userId: string,
): Promise<{ readonly imports: readonly ImportStatus[]; readonly timeZone: string }> {
  parseUserId(userId);
  const timeZone = (await zones.findTimeZone(userId)) ?? '';
  return { imports: await imports.list(userId, MAX_LISTED), timeZone };
}

function refuse(violations: readonly Violation[]): void {
  if (violations.length > 0) throw invalidRequest(violations);
}

const START = readStatement(new URL('sql/start-import.sql', import.meta.url));

const REPORT = `
  WITH known AS (SELECT 1 FROM import WHERE user_id = $1 AND format = $2 AND digest = $3),
  kept AS (
    UPDATE import SET position = $5, report = $6, state = $7, reported_at = $8
    WHERE user_id = $1 AND format = $2 AND digest = $3
      AND run = $4 AND state <> 'finished' AND ($7 = 'finished' OR position <= $5)
  )
  SELECT count(*)::int AS known FROM known`;

const LIST = `
  SELECT format, digest, size, state, report, started_at, reported_at FROM import WHERE user_id = $1
  ORDER BY started_at DESC, format, digest LIMIT $2`;

// The literal lets the planner use import_running_idx.
const COUNT_RUNNING = `
  SELECT count(*)::int AS running FROM import WHERE state = 'running' AND reported_at >= $1`;

interface ListedRow {
  readonly format: string;
  readonly digest: string;
  readonly size: string;
  readonly state: ImportState;
  readonly report: string;
  readonly started_at: Date;
  readonly reported_at: Date;
}

export type Imports = ReturnType<typeof createImports>;

/** The progress of imports. Each call is one statement, so concurrent runs of the same import are serialised. */
export function createImports(pool: pg.Pool) {
  const keyOf = ({ userId, format, digest }: ImportKey) => [userId, format, digest];
  return {
    /**
     * Starts an import, or resumes an unfinished one at the position of its furthest report. With `again`, or after a finished one,
     * starts a new run at the beginning.
     */
    async start(key: ImportKey, size: number, again: boolean, now: Date): Promise<ImportProgress> {
      const values = [...keyOf(key), size, again, now.toISOString()];
      const { rows } = await pool.query<{ run: number; position: string; report: string }>({
        ...START,
        values,
      });
      const { run = 1, position = '0', report = '' } = rows[0] ?? {};
      return { run, position: Number(position), report };
    },
    /**
     * Stores the furthest report of the latest run. A report that is behind it, belongs to an earlier run, or follows the end of the
     * run changes nothing. Returns false if there is no such import.
     */
    async report(
      key: ImportKey,
      { run, position, report }: ImportProgress,
      state: ImportState,
      now: Date,
    ): Promise<boolean> {
      const values = [...keyOf(key), run, position, report, state, now.toISOString()];
      const { rows } = await pool.query<{ known: number }>(REPORT, values);
      return rows[0]?.known === 1;
    },
    /** Running imports that have reported since then. */
    async countRunning(since: Date): Promise<number> {
      const { rows } = await pool.query<{ running: number }>(COUNT_RUNNING, [since.toISOString()]);
      return rows[0]?.running ?? 0;
    },
    /** The latest first. */
    async list(userId: string, limit: number): Promise<readonly ImportStatus[]> {
      const { rows } = await pool.query<ListedRow>(LIST, [userId, limit]);
      return rows.map(({ size, started_at, reported_at, ...row }) => ({
        ...row,
        size: Number(size),
        startedAt: started_at,
        reportedAt: reported_at,
      }));
    },
  };
}
