import { createHash } from 'node:crypto';
import type { GrantTerms } from './grant.ts';

/** 128 bits, so that two terms never have the same revision by chance. */
const CHARACTERS = 22;

/**
 * Identifies the terms of a live grant, or that there is none. Equal exactly if grant, scopes, end and first day are equal, so a
 * decision that names it applies to what the screen showed.
 */
export function toRevision(live: (GrantTerms & { readonly grantId: string }) | null): string {
  if (live === null) return 'none';
  const { grantId, scopes, expiresAt, dataFrom } = live;
  const terms = JSON.stringify([grantId, scopes.toSorted(), expiresAt.toISOString(), dataFrom]);
  return createHash('sha256').update(terms).digest('base64url').slice(0, CHARACTERS);
}
