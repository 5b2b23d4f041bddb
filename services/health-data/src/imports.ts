import {
  type Import,
  ImportSchema,
  ImportState,
  type ReportImportRequest,
  type StartImportRequest,
} from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { Clock } from '@phds/service-kit/clock';
import { invalidRequest, notFound, type Violation } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import { queryRows, readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import { type Row, toMessage } from '@phds/service-kit/rpc/messages';
import type pg from 'pg';
import type { ImportName } from './database.ts';
import type { Profiles } from './profiles.ts';

export interface ImportParts {
  readonly imports: Imports;
  readonly profiles: Pick<Profiles, 'findTimeZone'>;
  readonly clock: Clock;
}

/** Identifies an import. */
interface ImportKey extends ImportName {
  readonly userId: string;
}

/** The progress of a run. */
interface ImportProgress {
  readonly run: number;
  /** Everything before it is stored; its unit is chosen by the importer. */
  readonly position: bigint;
  /** JSON object that reports on everything before the position. */
  readonly report: string;
}

const MAX_LISTED = 100;
const MAX_RUN = 2 ** 31 - 1;
const REPORT_MAX_LENGTH = 256 * 1024;

/**
 * Returns where the import starts, at the beginning or where an unfinished run stopped, and the person's zone (empty if none). Throws
 * INVALID_REQUEST.
 */
export async function startImport({ imports, profiles, clock }: ImportParts, request: StartImportRequest) {
  const { userId, size, again } = request;
  parseUserId(userId);
  refuse([...checkImportName(request), ...checkCount('size', size)]);
  const timeZone = (await profiles.findTimeZone(userId)) ?? '';
  return { ...(await imports.start(request, size, again, clock.now())), timeZone };
}

/** Stores the progress of a run. Throws INVALID_REQUEST, and NOT_FOUND if there is no such import. */
export async function reportImport(
  { imports, clock }: ImportParts,
  request: ReportImportRequest,
): Promise<void> {
  const { userId, run, position, report } = request;
  parseUserId(userId);
  refuse([
    ...checkImportName(request),
    ...checkCount('run', run, MAX_RUN),
    ...checkCount('position', position),
    ...checkReport(report),
  ]);
  const state = STATES[request.state] ?? null;
  if (state === null) throw invalidRequest('state', 'must be running, finished or failed');
  if (!(await imports.report(request, request, state, clock.now())))
    throw notFound('There is no such import.');
}

/** The user's imports, the latest first, and their zone (empty if none). Throws INVALID_REQUEST. */
export async function listImports({ imports, profiles }: ImportParts, userId: string) {
  parseUserId(userId);
  const timeZone = (await profiles.findTimeZone(userId)) ?? '';
  return { imports: await imports.list(userId, MAX_LISTED), timeZone };
}

function checkImportName({ format, digest }: ImportName): Violation[] {
  const violations: Violation[] = [];
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(format))
    violations.push({ parameter: 'format', message: 'must be a name such as fhir' });
  if (!/^[0-9a-f]{64}$/.test(digest))
    violations.push({ parameter: 'digest', message: 'must be a SHA-256 in lower-case hex' });
  return violations;
}

/** The violation of a number of bytes or a position. */
function checkCount(parameter: string, count: number | bigint, max = Number.MAX_SAFE_INTEGER): Violation[] {
  return count <= max ? [] : [{ parameter, message: `must be at most ${max}` }];
}

function checkReport(report: string): Violation[] {
  if (report.length > REPORT_MAX_LENGTH)
    return [{ parameter: 'report', message: `must be at most ${REPORT_MAX_LENGTH / 1024} KiB` }];
  return isJsonObject(report) ? [] : [{ parameter: 'report', message: 'must be a JSON object' }];
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function refuse(violations: readonly Violation[]): void {
  if (violations.length > 0) throw invalidRequest(violations);
}

/** As they are stored. */
const STATES = {
  [ImportState.UNSPECIFIED]: null,
  [ImportState.RUNNING]: 'running',
  [ImportState.FINISHED]: 'finished',
  [ImportState.FAILED]: 'failed',
} as const;

type StoredState = NonNullable<(typeof STATES)[keyof typeof STATES]>;

const START = readStatement(new URL('sql/start-import.sql', import.meta.url));
const REPORT = readStatement(new URL('sql/report-import.sql', import.meta.url));
const LIST = readStatement(new URL('sql/list-imports.sql', import.meta.url));
const COUNT_RUNNING = readStatement(new URL('sql/count-running-imports.sql', import.meta.url));

export type Imports = ReturnType<typeof createImports>;

/** The progress of imports. Each call is one statement, so concurrent runs of the same import are serialised. */
export function createImports(pool: pg.Pool) {
  const keyOf = ({ userId, format, digest }: ImportKey) => [userId, format, digest];
  return {
    /**
     * Starts an import, or resumes an unfinished one at the position of its furthest report. With `again`, or after a finished one,
     * starts a new run at the beginning.
     */
    async start(key: ImportKey, size: bigint, again: boolean, now: Date): Promise<ImportProgress> {
      const values = [...keyOf(key), size, again, now];
      const [started] = await queryRows<{ run: number; position: string; report: string }>(
        pool,
        START,
        ...values,
      );
      const { run = 1, position = '0', report = '' } = started ?? {};
      return { run, position: BigInt(position), report };
    },
    /**
     * Stores the furthest report of the latest run. A report that is behind it, belongs to an earlier run, or follows the end of the
     * run changes nothing. Returns false if there is no such import.
     */
    async report(
      key: ImportKey,
      { run, position, report }: ImportProgress,
      state: StoredState,
      now: Date,
    ): Promise<boolean> {
      return (await runStatement(pool, REPORT, ...keyOf(key), run, position, report, state, now)) === 1;
    },
    /** Running imports that have reported since then. */
    async countRunning(since: Date): Promise<number> {
      const [counted] = await queryRows<{ running: number }>(pool, COUNT_RUNNING, since);
      return counted?.running ?? 0;
    },
    /** The latest first. */
    async list(userId: string, limit: number): Promise<Import[]> {
      const rows = await queryRows<Row<Import>>(pool, LIST, userId, limit);
      return rows.map((row) => toMessage(ImportSchema, row));
    },
  };
}
