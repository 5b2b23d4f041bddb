import type { WireAnswer } from '../load/wire.ts';

/** An answer to a malformed request is short: it must not multiply what an attacker sends. */
const MOST_BYTES = 16_384;

/** What a text for partners must not hold: parts of stack traces, of SQL and of the files of a service. */
const INTERNALS = /\n\s+at |node_modules|\.ts:\d+|prisma|ECONN|SQLSTATE|pg_|syntax error at/i;

/** What is wrong with the answer to a malformed request; null when nothing is. A closed connection is an answer. */
export function findFault({ status, head, body, late }: WireAnswer): string | null {
  if (late) return 'hang: a malformed request was not answered';
  if (status === 503) return /\r\nretry-after:/i.test(head) ? null : '503 without Retry-After';
  if (status >= 500) return `${status} for a malformed request`;
  if (status < 400) return null;
  if (body.length > MOST_BYTES) return `an error of ${body.length} bytes`;
  return INTERNALS.test(body) ? `an error tells internals: ${body.slice(0, 200)}` : null;
}
