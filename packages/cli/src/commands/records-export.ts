import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ACCESS_CSV_HEADER, type ExportedAccess, toAccessCsvLine } from '@phds/catalog/access-csv';
import { toAuditEvent } from '../records/audit-event.ts';
import { explainRecords } from '../records/explanation.ts';
import { findAccesses } from '../records/exported-access.ts';
import { findRange, type RangeChoice } from '../records/range.ts';
import { writeWholeFile } from '../whole-file.ts';
import { EXIT_DONE, EXIT_FAILED } from './exit-codes.ts';
import type { RecordsSurroundings } from './records-verify.ts';

/** RFC 4180, or FHIR R4 AuditEvents as NDJSON. */
export const EXPORT_FORMATS = ['csv', 'fhir'] as const;

export interface ExportRecordsArguments {
  readonly userId: string;
  readonly range: RangeChoice;
  readonly format: (typeof EXPORT_FORMATS)[number];
  /** null for standard output. */
  readonly file: string | null;
}

export interface ExportSurroundings extends Omit<RecordsSurroundings, 'output'> {
  readonly output: Writable;
}

/** `phds records export`: writes a person's access records, oldest first. Returns the exit code. */
export async function exportRecords(
  { userId, range, format, file }: ExportRecordsArguments,
  { output, errors, connect }: ExportSurroundings,
): Promise<number> {
  try {
    await using connection = await connect();
    const { snapshot } = connection;
    const pages = await findAccesses(snapshot, userId, await findRange(snapshot, range));
    if (pages === null) {
      errors.write(
        `No records belong to a user ${userId}: there never was a consent, or the user was erased.\n`,
      );
      return EXIT_FAILED;
    }
    const text = format === 'csv' ? csv(pages) : ndjson(pages, userId);
    if (file !== null) await writeWholeFile(file, text);
    // Standard output stays open.
    else await pipeline(text, output, { end: false });
    return EXIT_DONE;
  } catch (error) {
    errors.write(`${explainRecords(error)}\n`);
    return EXIT_FAILED;
  }
}

async function* csv(pages: AsyncIterable<readonly ExportedAccess[]>): AsyncGenerator<string> {
  yield ACCESS_CSV_HEADER;
  for await (const page of pages) yield page.map(toAccessCsvLine).join('');
}

async function* ndjson(
  pages: AsyncIterable<readonly ExportedAccess[]>,
  userId: string,
): AsyncGenerator<string> {
  for await (const page of pages) {
    yield page.map((access) => `${JSON.stringify(toAuditEvent(access, userId))}\n`).join('');
  }
}
