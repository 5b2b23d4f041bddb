import type { WireAnswer } from '../load/wire.ts';

/** Maximum size of the response to a malformed request, which must not amplify an attack. */
const MOST_BYTES = 16_384;

/** Texts that a response must not contain: parts of stack traces, of SQL and of source files. */
const INTERNALS = /\n\s+at |node_modules|\.ts:\d+|prisma|ECONN|SQLSTATE|pg_|syntax error at/i;

/** The defect of a response to a malformed request; null when there is none. Closing the connection is acceptable. */
export function findFault({ status, head, body, late }: WireAnswer): string | null {
  if (late) return 'hang: a malformed request was not answered';
  if (status === 503) return /\r\nretry-after:/i.test(head) ? null : '503 without Retry-After';
  if (status >= 500) return `${status} for a malformed request`;
  if (status < 400) return null;
  if (body.length > MOST_BYTES) return `an error of ${body.length} bytes`;
  return INTERNALS.test(body) ? `an error reveals internals: ${body.slice(0, 200)}` : null;
}
