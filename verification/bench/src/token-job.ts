/** The measured requests: the grant types of the token endpoint, and introspection. */
export const TOKEN_REQUESTS = ['client-credentials', 'refresh', 'code', 'introspection'] as const;

export type TokenRequest = (typeof TOKEN_REQUESTS)[number];

/** One stretch of load on one server. */
export interface TokenJob {
  readonly request: TokenRequest;
  readonly tokenUrl: string;
  readonly introspectionUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly connections: number;
  readonly seconds: number;
  /**
   * Unused codes: those that are exchanged, or those that the tokens come from that are refreshed or introspected. A stretch of
   * exchanges ends early when none is left.
   */
  readonly codes: readonly string[];
}
