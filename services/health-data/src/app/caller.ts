/** The app that asks and whom it asks about, as authorization vouches for it. */
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
  /** How far back the app sees (YYYY-MM-DD); null is everything. */
  readonly dataFrom: string | null;
}
