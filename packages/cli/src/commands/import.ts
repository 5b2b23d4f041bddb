import { basename } from 'node:path';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { type Import, ImportState } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { AppError } from '@phds/service-kit/errors';
import { Argument, type Command } from 'commander';
import type { IngestionConnection } from '../connection.ts';
import { appleImporter } from '../importers/apple/importer.ts';
import { csvImporter } from '../importers/csv/importer.ts';
import { fhirImporter } from '../importers/fhir/importer.ts';
import { digestContent, ImportLog } from '../importers/ingest/import-log.ts';
import { ImportRun } from '../importers/ingest/import-run.ts';
import { type Importer, type ImportSource, UnusableFile, zoneOfDates } from '../importers/ingest/importer.ts';
import { ImportReport, parseReportData, type ReportData, reportText } from '../importers/ingest/report.ts';
import { explainCall, toInstant } from '../operator/connection.ts';
import { addUserOptions, chooseUser, jsonOption, parsePath, type UserOptions } from '../options.ts';
import type { Surrounded } from '../shell.ts';
import { createProgress, megabytes, type ProgressStream, toTable } from '../terminal.ts';
import { writeWholeFile } from '../whole-file.ts';
import { EXIT_DONE, EXIT_FAILED, type Surroundings, toJson } from './command.ts';

const IMPORTERS: readonly Importer[] = [appleImporter, fhirImporter, csvImporter];

const FORMATS = `apple: export.zip or export.xml of Apple Health; csv: readings or records with a header (docs/operations/importing.md);
fhir: a FHIR R4 bundle (.json), or a bulk data export (.ndjson files or their directory)`;

export function addImports(program: Command, surrounded: Surrounded): void {
  const { finish, withIngestion } = surrounded;
  const importing = program
    .command('import')
    .summary('import a file for a user')
    .description(
      'Imports a file for a user. Importing the same file again ends in the same state; an interrupted import resumes where it stopped.',
    )
    .addArgument(new Argument('<format>', FORMATS).choices(IMPORTERS.map(({ format }) => format)))
    .argument(
      '<files...>',
      'the files to import; they may be larger than memory',
      (file, others: readonly string[] = []) => [...others, parsePath(file)],
    );
  addUserOptions(importing, 'the user whose data it is')
    .option('--patient <ref>', 'the patient to import, if the file contains several')
    .option('--again', 'start from the beginning, even if an earlier run was interrupted', false)
    .addOption(jsonOption('the report'))
    .option('--out <file>', 'write the report to a file instead of the output', parsePath)
    .action(async (format: string, files: string[], options: ImportOptions, command: Command) => {
      const importer = IMPORTERS.find((known) => known.format === format);
      if (importer === undefined) throw new RangeError(`no importer of ${format}`);
      if (files.length > 1 && !importer.takesSeveral) {
        command.error(`error: one file at a time; also given: ${files.slice(1).join(' ')}`);
      }
      const { patient = null, again, json, out: reportFile = null } = options;
      const args = {
        importer,
        paths: files,
        ...chooseUser(options, command),
        patient,
        again,
        json,
        reportFile,
      };
      finish(await importFiles(args, withIngestion));
    });
  const listing = program.command('imports').description('Lists the imports of a user.');
  addUserOptions(listing, 'the user whose data it is')
    .addOption(jsonOption('the list'))
    .action(async ({ json, ...user }: UserOptions & { json: boolean }, command: Command) =>
      finish(await listImports({ ...chooseUser(user, command), json }, withIngestion)),
    );
}

interface ImportOptions extends UserOptions {
  readonly out?: string;
  readonly patient?: string;
  readonly again: boolean;
  readonly json: boolean;
}

export interface ImportArguments {
  readonly importer: Importer;
  /** Absolute paths. */
  readonly paths: readonly string[];
  readonly userId: string;
  /** Whether the output must not contain the user id. */
  readonly hidesUser?: boolean;
  readonly patient: string | null;
  /** Starts from the beginning, even if an earlier run was interrupted. */
  readonly again: boolean;
  /** Prints one JSON document instead of tables. */
  readonly json: boolean;
  /** Receives the report; null for standard output. */
  readonly reportFile?: string | null;
}

type CommandSurroundings = Surroundings<IngestionConnection>;

/** The result of an import: the report, and why it ended early. */
interface Outcome {
  readonly report: ReportData;
  readonly failure: string | null;
}

/** `phds import`: imports files of one format for a user and reports the results. Returns the exit code. */
export async function importFiles(args: ImportArguments, surroundings: CommandSurroundings): Promise<number> {
  const started = performance.now();
  const { report, failure } = await tryImport(args, surroundings);
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const { output, errors } = surroundings;
  const text = toReport(args, { report, failure }, seconds);
  const unwritten = text === '' ? null : await writeReport(text, args.reportFile ?? null, output);
  const failures = [failure, unwritten].filter((each) => each !== null);
  for (const each of failures) errors.write(`${each}\n`);
  return failures.length === 0 ? EXIT_DONE : EXIT_FAILED;
}

function toReport(args: ImportArguments, { report, failure }: Outcome, seconds: number): string {
  const { importer, paths, userId, hidesUser = false } = args;
  if (args.json) {
    const about = { format: importer.format, files: paths, user: hidesUser ? null : userId, seconds };
    return toJson({ ok: failure === null, error: failure, ...about, ...report });
  }
  if (failure !== null && !hasStored(report)) return '';
  const names = paths.map((path) => basename(path)).join(', ');
  return `${names}${hidesUser ? '' : ` for ${userId}`}, ${seconds} s\n\n${reportText(report)}`;
}

/** Writes the report to the file or the output. Returns why it could not be written. */
async function writeReport(
  text: string,
  file: string | null,
  output: CommandSurroundings['output'],
): Promise<string | null> {
  if (file === null) {
    output.write(text);
    return null;
  }
  return writeWholeFile(file, [text]).then(
    () => null,
    (error: NodeJS.ErrnoException) =>
      `The import has ended, but its report cannot be written: ${error.message}`,
  );
}

async function tryImport(args: ImportArguments, { errors, connect }: CommandSurroundings): Promise<Outcome> {
  try {
    using connection = connect();
    await using source = await openSource(args, errors);
    return await importSource(args, source, connection, errors);
  } catch (error) {
    return { report: new ImportReport().toData(), failure: explainImport(error) };
  }
}

/** Opens the files, which are checked first. */
async function openSource(
  { importer, paths, patient }: Pick<ImportArguments, 'importer' | 'paths' | 'patient'>,
  errors: ProgressStream,
) {
  const checking = createProgress(errors, 'Checking');
  try {
    return await importer.open({ paths, patient, onChecked: (done, total) => checking.update(done, total) });
  } finally {
    checking.finish();
  }
}

async function importSource(
  { importer, userId, patient, again }: ImportArguments,
  source: ImportSource,
  { client }: IngestionConnection,
  errors: ProgressStream,
): Promise<Outcome> {
  const content = await digestContent({ files: source.files, choices: { patient } });
  const log = await ImportLog.open({ client, userId, format: importer.format, content, again });
  const { position } = log.beginning;
  if (position > 0) errors.write('An earlier run was interrupted: resuming where it stopped.\n');
  const importing = createProgress(errors, 'Importing');
  const run = new ImportRun({
    client,
    userId,
    importName: log.name,
    ...log.beginning,
    onReached: (reached) => importing.update(reached, source.size),
    onSettled: (settled, report) => log.note(settled, report),
  });
  try {
    if (typeof source.timeZone === 'string') await run.suggestTimeZone(source.timeZone);
    await source.read(run, position, zoneOfDates(log.timeZone, source));
    await run.finish();
    await log.note(run.position, run.settled, ImportState.FINISHED);
    return { report: run.total(), failure: null };
  } catch (error) {
    const cause = error instanceof UnusableFile ? await settleBefore(error, run) : error;
    await log.noteFailure(run.position, run.settled);
    return { report: run.total(), failure: explainImport(cause) };
  } finally {
    importing.finish();
  }
}

/** Stores everything before the file's defect, so that report and data agree. Returns why the import ends. */
function settleBefore(fault: UnusableFile, run: ImportRun): Promise<unknown> {
  return run.flush().then(
    () => fault,
    (error: unknown) => error,
  );
}

function hasStored({ stored }: ReportData): boolean {
  return stored.inserted + stored.updated + stored.unchanged > 0;
}

/** Explains why an import failed, for the terminal. Rethrows internal errors, whose stack is needed. */
function explainImport(error: unknown): string {
  if (error instanceof AppError && error.reason === 'unavailable') {
    return 'health-data does not answer. Start the import again later; it resumes where it stopped.';
  }
  if (error instanceof AppError && error.reason === 'not_found') {
    return "The user's data was erased while the import was running.";
  }
  return explain(error);
}

/** Explains an error of any command that calls health-data as `importer`. Rethrows internal errors. */
function explain(error: unknown): string {
  return error instanceof UnusableFile ? error.message : explainCall(error, 'health-data', 'importer');
}

interface ListImportsArguments {
  readonly userId: string;
  /** Whether the output must not contain the user id. */
  readonly hidesUser?: boolean;
  /** Prints one JSON document instead of a table. */
  readonly json: boolean;
}

const HEADINGS = 'started,state,format,size,new,updated,unchanged,left out,refused'.split(',');

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
  { userId, hidesUser = false, json }: ListImportsArguments,
  { output, errors, connect }: CommandSurroundings,
): Promise<number> {
  const user = hidesUser ? null : userId;
  try {
    using connection = connect();
    const { imports } = await connection.client.listImports({ userId });
    const rows = imports.map((each) => toRow(each, Date.now()));
    output.write(json ? toJson({ user, imports: rows }) : toText(rows));
    return EXIT_DONE;
  } catch (error) {
    const failure = explain(error);
    if (json) output.write(toJson({ user, error: failure }));
    errors.write(`${failure}\n`);
    return EXIT_FAILED;
  }
}

/** An import as it is listed. */
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
    return [startedAt, state, format, megabytes(bytes), ...counts.map(String)];
  });
  return toTable([HEADINGS, ...lines]);
}
