/** The calling app and the user whose data it requests, as asserted by authorization. */
export interface Caller {
  readonly clientId: string;
  /** Empty for a userless token. */
  readonly userId: string;
  readonly grantId: string;
  readonly familyId: string;
  readonly scopes: readonly string[];
  /** SHA-256 of the access token, base64url. */
  readonly tokenHash: string;
  /** Unix seconds. */
  readonly tokenExpiresAt: number;
  /** First day that the app may see (YYYY-MM-DD); null for no limit. */
  readonly dataFrom: string | null;
  /** Identifies the person to this app; null if authorization could not learn it. */
  readonly sub: string | null;
}
