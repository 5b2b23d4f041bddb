import { text } from '../texts/frame.ts';
import { Problem } from './problem.ts';

const TEXTS = new Map([
  ['INTERNAL_ERROR', 'problemInternal'],
  ['RATE_LIMITED', 'problemRateLimited'],
  ['NOT_FOUND', 'problemNotFound'],
  ['CONFLICT', 'problemConflict'],
  ['APP_NOT_ACTIVE', 'problemAppNotActive'],
  ['PENDING_EXPIRED', 'problemPendingExpired'],
  ['ALREADY_DECIDED', 'problemAlreadyDecided'],
  ['NO_SCOPES_APPROVED', 'problemNoScopes'],
  ['NOT_MADE', 'problemNotMade'],
  ['STEP_UP_REQUIRED', 'problemStepUp'],
  ['NOT_A_DEVELOPER', 'problemNotDeveloper'],
] as const);

/** Problems that the page itself found: their messages are in its language. */
const OWN = new Set(['UNREACHABLE', 'TIMED_OUT', 'UNREADABLE', 'REDIRECTED']);

/** The cause of an error in the page's language; with the service's own words, which are English, for codes without a text. */
export function problemText(error: unknown): string {
  if (!(error instanceof Problem)) return text('ownError');
  const id = TEXTS.get(error.code as 'CONFLICT');
  if (id !== undefined) return text(id);
  if (OWN.has(error.code)) return error.message;
  return error.message === '' ? text('ownError') : text('problemOther', { words: error.message });
}
