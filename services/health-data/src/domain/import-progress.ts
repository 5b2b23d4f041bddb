import type { Violation } from '@phds/service-kit/errors';

/** Identifies an import of a user. */
export interface ImportKey {
  readonly userId: string;
  readonly format: string;
  /** SHA-256 of the imported content, lower-case hex. */
  readonly digest: string;
}

export type ImportState = 'running' | 'finished' | 'failed';

/** The progress of a run. */
export interface ImportProgress {
  readonly run: number;
  /** Everything before it is stored; its unit is chosen by the importer. */
  readonly position: number;
  /** JSON object that reports on everything before the position. */
  readonly report: string;
}

/** An import with its last report. */
export interface ImportStatus extends Omit<ImportKey, 'userId'> {
  /** Bytes. */
  readonly size: number;
  readonly state: ImportState;
  readonly report: string;
  readonly startedAt: Date;
  /** Time of the last report. */
  readonly reportedAt: Date;
}

const REPORT_MAX_LENGTH = 256 * 1024;

/** The violations in the key of an import. */
export function checkImportKey({ format, digest }: ImportKey): Violation[] {
  const violations: Violation[] = [];
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(format))
    violations.push({ parameter: 'format', message: 'must be a name such as fhir' });
  if (!/^[0-9a-f]{64}$/.test(digest))
    violations.push({ parameter: 'digest', message: 'must be a SHA-256 in lower-case hex' });
  return violations;
}

/** The violation of a number of bytes or a position. */
export function checkCount(parameter: string, count: number, max = Number.MAX_SAFE_INTEGER): Violation[] {
  return count <= max ? [] : [{ parameter, message: `must be at most ${max}` }];
}

/** The violations in a report. */
export function checkReport(report: string): Violation[] {
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
