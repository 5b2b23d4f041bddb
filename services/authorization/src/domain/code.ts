import type { Scope } from '@phds/catalog/scopes';

/** Number of failed attempts by the owning client that invalidate a code. */
export const CODE_MAX_FAILED_ATTEMPTS = 5;

/** A stored authorization code, identified by its SHA-256. */
export interface AuthorizationCode {
  readonly hash: Uint8Array;
  readonly pendingId: string;
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly scopes: readonly Scope[];
  /** Whether the tokens get all scopes of the grant, not only these. */
  readonly includeGrantedScopes: boolean;
  readonly redirectUri: string;
  readonly codeChallenge: string | null;
  readonly appEpoch: number;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly consumedAt: Date | null;
  /** The family created by its exchange; null while unused. */
  readonly familyId: string | null;
  readonly failedAttempts: number;
  /** Whether it was issued before an unconfirmed restore of the database. */
  readonly suspended: boolean;
}

/** Whether the code can still be exchanged at this time. */
export function isUsable(code: AuthorizationCode, now: Date): boolean {
  const isUnused = code.consumedAt === null && code.failedAttempts < CODE_MAX_FAILED_ATTEMPTS;
  return isUnused && !code.suspended && code.expiresAt > now;
}

/** Whether a text is a verifier according to RFC 7636 section 4.1. */
export function isCodeVerifier(text: string): boolean {
  return /^[A-Za-z0-9._~-]{43,128}$/.test(text);
}
