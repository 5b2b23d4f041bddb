import { timestampDate } from '@bufbuild/protobuf/wkt';
import { type Import, ImportState } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { ImportReport } from '../importers/ingest/report.ts';
import { parseReportData } from '../importers/ingest/report-data.ts';
import { toInstant, toJson } from '../operator/call.ts';
import { megabytes } from '../progress.ts';
import { EXIT_DONE, EXIT_FAILED } from './exit-codes.ts';
import { explain } from './explain.ts';
import type { CommandSurroundings } from './import.ts';

export interface ListImportsArguments {
  readonly userId: string;
  /** Prints one JSON document instead of a table. */
  readonly json: boolean;
}

const HEADINGS = ['new', 'updated', 'unchanged', 'left out', 'refused'];

const STATES: Readonly<Record<ImportState, string>> = {
  [ImportState.UNSPECIFIED]: 'unknown',
  [ImportState.RUNNING]: 'running',
  [ImportState.FINISHED]: 'finished',
  [ImportState.FAILED]: 'failed',
};

// A running import reports every few seconds.
const SILENT_MS = 60_000;

/** `phds imports`: lists the imports of a user, the latest first. Returns the exit code. */
export async function listImports(
  { userId, json }: ListImportsArguments,
  { output, errors, connect }: CommandSurroundings,
): Promise<number> {
  try {
    using connection = connect();
    const { imports } = await connection.client.listImports({ userId });
    const rows = imports.map((each) => toRow(each, Date.now()));
    output.write(json ? toJson({ user: userId, imports: rows }) : toText(rows));
    return EXIT_DONE;
  } catch (error) {
    const failure = explain(error);
    if (json) output.write(toJson({ user: userId, error: failure }));
    errors.write(`${failure}\n`);
    return EXIT_FAILED;
  }
}

function toRow({ format, digest, size, state, report, startedAt, reportedAt }: Import, now: number) {
  const data = parseReportData(report) ?? new ImportReport().toData();
  const heard = reportedAt === undefined ? 0 : timestampDate(reportedAt).getTime();
  const { inserted, updated, unchanged } = data.stored;
  return {
    startedAt: toInstant(startedAt),
    reportedAt: new Date(heard).toISOString(),
    format,
    bytes: Number(size),
    digest,
    // A killed process cannot report its end.
    state: state === ImportState.RUNNING && now - heard > SILENT_MS ? 'interrupted' : STATES[state],
    counts: [inserted, updated, unchanged, data.leftOutCount, data.refusedCount],
  };
}

function toText(rows: readonly ReturnType<typeof toRow>[]): string {
  if (rows.length === 0) return 'No imports.\n';
  const lines = rows.map(({ startedAt, format, bytes, state, counts }) => {
    const about = [startedAt.slice(0, 16).replace('T', ' '), state.padEnd(11), format.padEnd(6)];
    return `${about.join('  ')}${megabytes(bytes).padStart(11)}${counts.map((count) => String(count).padStart(11)).join('')}`;
  });
  const head = `${'started (UTC)'.padEnd(18)}${'state'.padEnd(13)}${'format'.padEnd(6)}${'size'.padStart(11)}`;
  return `${[head + HEADINGS.map((heading) => heading.padStart(11)).join(''), ...lines].join('\n')}\n`;
}
