import { type ImportArguments, importFiles } from '../src/commands/import.ts';
import { openIngestion } from '../src/connection.ts';
import type { ReportData } from '../src/importers/ingest/report.ts';

/** The report as `--json` prints it. */
export type JsonReport = ReportData & { readonly ok: boolean; readonly error: string | null };

/** The arguments of a run for Ada; absent ones have their default. */
export type ImportRun = Pick<ImportArguments, 'importer'> & Partial<ImportArguments>;

/** Runs the command with an environment. Returns its exit code and output. */
export async function runImport(env: NodeJS.ProcessEnv, run: ImportRun) {
  const [output, errors]: [string[], string[]] = [[], []];
  const code = await importFiles(
    { paths: [], userId: 'ada', patient: null, again: false, json: false, ...run },
    {
      output: { write: (text) => output.push(text) },
      errors: { write: (text) => errors.push(text) },
      connect: () => openIngestion(env),
    },
  );
  return { code, output: output.join(''), errors: errors.join('') };
}

/** Runs the command with `--json`. */
export async function runReported(env: NodeJS.ProcessEnv, run: ImportRun) {
  const { code, output, errors } = await runImport(env, { ...run, json: true });
  return { code, report: JSON.parse(output) as JsonReport, errors };
}
