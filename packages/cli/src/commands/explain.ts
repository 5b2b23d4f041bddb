import { AppError } from '@phds/service-kit/errors';
import { UnusableFile } from '../importers/ingest/importer.ts';
import { explainCall } from '../operator/connection.ts';

/** Explains why an import failed, for the terminal. Rethrows internal errors, whose stack is needed. */
export function explainImport(error: unknown): string {
  if (error instanceof AppError && error.reason === 'unavailable') {
    return 'health-data does not answer. Start the import again later; it resumes where it stopped.';
  }
  if (error instanceof AppError && error.reason === 'not_found') {
    return "The user's data was erased while the import was running.";
  }
  return explain(error);
}

/** Explains an error of any command that calls health-data as `importer`. Rethrows internal errors. */
export function explain(error: unknown): string {
  return error instanceof UnusableFile ? error.message : explainCall(error, 'health-data', 'importer');
}
