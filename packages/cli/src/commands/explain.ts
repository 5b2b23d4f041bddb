import { UnusableFile } from '@phds/importers/ingest/unusable-file';
import { ConfigError } from '@phds/service-kit/config';
import { AppError } from '@phds/service-kit/errors';
import { NotConfigured } from '../connection.ts';

/** Explains an error in one sentence for the terminal. Rethrows internal errors, whose stack is needed. */
export function explain(error: unknown): string {
  if (error instanceof UnusableFile || error instanceof NotConfigured || error instanceof ConfigError) {
    return error.message;
  }
  if (!(error instanceof AppError)) throw error;
  if (error.reason === 'unavailable') {
    return 'health-data does not answer. Start the import again later; it resumes where it stopped.';
  }
  if (error.reason === 'not_found') return "The user's data was erased while the import was running.";
  if (error.reason === 'caller_not_admitted') {
    return 'health-data does not admit this caller: the private key is not the one of `importer`, or the clock here is over a minute ahead.';
  }
  return `health-data refused the import (${error.reason})${error.message === '' ? '' : `: ${error.message}`}`;
}
