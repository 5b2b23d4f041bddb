import type { Scope } from '@phds/catalog/scopes';

/** How many failed attempts by the owning client burn a code (contract section 3). */
export const CODE_MAX_FAILED_ATTEMPTS = 5;

/** An authorization code as it is kept: by its SHA-256. */
export interface AuthorizationCode {
  readonly hash: Uint8Array;
  readonly pendingId: string;
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly scopes: readonly Scope[];
  readonly redirectUri: string;
  readonly codeChallenge: string | null;
  readonly appEpoch: number;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly consumedAt: Date | null;
  /** The family its exchange made; null while unused. */
  readonly familyId: string | null;
  readonly failedAttempts: number;
  /** Older than a restore of the database that no operator has confirmed. */
  readonly suspended: boolean;
}

/** Whether a code could still be exchanged at this time. */
export function isUsable(code: AuthorizationCode, now: Date): boolean {
  const isUnused = code.consumedAt === null && code.failedAttempts < CODE_MAX_FAILED_ATTEMPTS;
  return isUnused && !code.suspended && code.expiresAt > now;
}

/** A verifier as RFC 7636 section 4.1 wants it. */
export function isCodeVerifier(text: string): boolean {
  return /^[A-Za-z0-9._~-]{43,128}$/.test(text);
}
