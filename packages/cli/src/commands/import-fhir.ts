import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { ConfigError } from '@phds/service-kit/config';
import { AppError } from '@phds/service-kit/errors';
import { type IngestionConnection, NotConfigured } from '../connection.ts';
import { importBundle } from '../fhir/import-bundle.ts';
import { ImportReport } from '../ingest/report.ts';
import { reportText } from '../ingest/report-text.ts';
import { UnusableFile } from '../ingest/unusable-file.ts';
import { createProgress, type Progress, type ProgressStream } from '../progress.ts';

export interface ImportFhirArguments {
  readonly file: string;
  readonly userId: string;
  readonly patient: string | null;
  /** One JSON document on the output instead of tables. */
  readonly json: boolean;
}

/** Where the command writes, and whom it calls. */
export interface CommandSurroundings {
  readonly output: { write(text: string): unknown };
  readonly errors: ProgressStream;
  readonly connect: () => IngestionConnection;
}

/** Exit codes of the command: done (refusals included), could not be done, wrongly called. */
export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

const LABELS = { checking: 'Checking', importing: 'Importing' } as const;

/** `phds import fhir`: imports a bundle file for a user and reports what became of it. Answers the exit code. */
export async function importFhir(
  args: ImportFhirArguments,
  { output, errors, connect }: CommandSurroundings,
): Promise<number> {
  const report = new ImportReport();
  const started = performance.now();
  let failure: string | null = null;
  try {
    using connection = connect();
    await runImport(args, connection, report, errors);
  } catch (error) {
    failure = explain(error);
  }
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const { file, userId } = args;
  if (args.json) {
    const document = {
      ok: failure === null,
      error: failure,
      file,
      user: userId,
      seconds,
      ...report.toData(),
    };
    output.write(`${JSON.stringify(document, null, 2)}\n`);
  } else if (failure === null || hasStored(report)) {
    output.write(`${basename(file)} for ${userId}, ${seconds} s\n\n${reportText(report.toData())}`);
  }
  if (failure !== null) errors.write(`${failure}\n`);
  return failure === null ? EXIT_DONE : EXIT_FAILED;
}

async function runImport(
  { file, userId, patient }: ImportFhirArguments,
  { client }: IngestionConnection,
  report: ImportReport,
  errors: ProgressStream,
): Promise<void> {
  const total = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const steps = new Map<string, Progress>();
  const onProgress = (step: keyof typeof LABELS, bytes: number) => {
    const progress = steps.get(step) ?? createProgress(errors, LABELS[step]);
    steps.set(step, progress);
    progress.update(bytes, total);
  };
  try {
    await importBundle({ file, userId, patient, client, onProgress }, report);
  } finally {
    for (const progress of steps.values()) progress.finish();
  }
}

function hasStored(report: ImportReport): boolean {
  const { stored } = report.toData();
  return stored.inserted + stored.updated + stored.unchanged > 0;
}

/** One sentence for the person at the terminal. Throws what is a fault of ours, for its stack. */
function explain(error: unknown): string {
  if (error instanceof UnusableFile || error instanceof NotConfigured || error instanceof ConfigError) {
    return error.message;
  }
  if (!(error instanceof AppError)) throw error;
  if (error.reason === 'unavailable') {
    return 'health-data does not answer. Start the import again later: what was stored already stays as it is.';
  }
  if (error.reason === 'caller_not_admitted') {
    return 'health-data does not admit this caller: the private key is not the one of `importer`.';
  }
  return `health-data refused the import (${error.reason})${error.message === '' ? '' : `: ${error.message}`}`;
}
