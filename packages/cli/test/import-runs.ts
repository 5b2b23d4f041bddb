import type { ReportData } from '@phds/importers/ingest/report';
import { type ImportArguments, importFiles } from '../src/commands/import.ts';
import { openIngestion } from '../src/connection.ts';

/** The report as `--json` prints it. */
export type JsonReport = ReportData & { readonly ok: boolean; readonly error: string | null };

/** What is not said is as it is without options, for Ada. */
export type ImportRun = Pick<ImportArguments, 'importer'> & Partial<ImportArguments>;

/** Runs the command against the service of an environment; answers its exit code and what it wrote. */
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

/** The same with `--json`. */
export async function runReported(env: NodeJS.ProcessEnv, run: ImportRun) {
  const { code, output, errors } = await runImport(env, { ...run, json: true });
  return { code, report: JSON.parse(output) as JsonReport, errors };
}
