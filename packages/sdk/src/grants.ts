/** A consent grant, as `GET /oauth/grants` answers it. */
export interface Grant {
  readonly id: string;
  /** The person; null once their data was erased. */
  readonly sub: string | null;
  readonly scopes: readonly string[];
  readonly status: 'active' | 'expired' | 'revoked';
  readonly granted_at: string;
  readonly expires_at: string;
  readonly ended_at: string | null;
  readonly ended_by: string | null;
  /** The first day of which the app sees data; null: everything. */
  readonly data_from: string | null;
  /** When the person asked to have the data deleted that your app copied. */
  readonly deletion_requested_at: string | null;
}

export interface GrantQuery {
  readonly status?: Grant['status'];
  readonly sub?: string;
  readonly page?: number;
  readonly pageSize?: number;
}

/** What is known about a token (RFC 7662). */
export type Introspection =
  | { readonly active: false }
  | {
      readonly active: true;
      readonly scope: string;
      readonly client_id: string;
      readonly token_type: string;
      readonly iat?: number;
      readonly exp?: number;
      readonly grant_id?: string;
      readonly sub?: string;
    };
