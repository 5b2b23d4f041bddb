import { translateDatabaseError } from '@phds/service-kit/postgres/errors';
import { ConfigError } from '@phds/service-kit/settings/config';
import { NotConfigured } from '../connection.ts';

/** Explains an error in one sentence for the terminal. Rethrows internal errors, whose stack is needed. */
export function explainRecords(error: unknown): string {
  if (error instanceof NotConfigured || error instanceof ConfigError) return error.message;
  const { code, path } = error as { code?: unknown; path?: unknown };
  if (typeof path === 'string') return `${path}: ${code}`;
  // SQLSTATEs for role, password and privileges: appendix A of the Postgres manual.
  if (code === '28P01' || code === '28000')
    return 'The database does not admit this role: RECORDS_DATABASE_URL.';
  if (code === '42501')
    return 'This role may not read the records: it needs SELECT on consent and consent_audit.';
  if (translateDatabaseError(error).reason === 'unavailable') return 'The database does not answer.';
  throw error;
}
