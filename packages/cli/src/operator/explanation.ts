import { AppError } from '@phds/service-kit/errors';
import { ConfigError } from '@phds/service-kit/settings/config';
import { NotConfigured } from '../connection.ts';
import type { OperatedService } from './connection.ts';

/** Explains an error of a call in one sentence for the terminal. Rethrows internal errors, whose stack is needed. */
export function explainCall(error: unknown, service: OperatedService, caller = 'operator'): string {
  if (error instanceof NotConfigured || error instanceof ConfigError) return error.message;
  if (!(error instanceof AppError)) throw error;
  if (error.reason === 'unavailable') return `${service} does not answer.`;
  if (error.reason === 'caller_not_admitted') {
    return `${service} does not admit this caller: the private key is not the one of \`${caller}\`, or the clock here is over a minute ahead.`;
  }
  return `${service} refused (${error.reason})${error.message === '' ? '' : `: ${error.message}`}`;
}
