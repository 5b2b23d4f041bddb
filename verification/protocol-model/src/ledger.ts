import type { VariantName } from './variants.ts';

export type AppStatus = 'active' | 'suspended' | 'revoked';

export interface AppRow {
  readonly status: AppStatus;
  readonly epoch: number;
  readonly revision: number;
}

export interface GrantRow {
  readonly id: string;
  readonly user: string;
  readonly app: string;
  readonly epoch: number;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  readonly revoked: boolean;
  /** Still in the place that a user and an app have one of. */
  readonly open: boolean;
}

export interface PendingRow {
  readonly user: string;
  readonly app: string;
  readonly epoch: number;
  readonly asked: readonly string[];
  readonly decided: Approved | null;
}

/** What an approval answers. */
export interface Approved {
  readonly grant: string;
  readonly user: string;
  readonly app: string;
  readonly epoch: number;
  readonly scopes: readonly string[];
}

export interface RevokedRow {
  readonly revokedAt: number;
  readonly expiresAt: number;
}

/** One access about to be released, as health-data tells of it. */
export interface Access {
  readonly request: string;
  readonly user: string;
  readonly app: string;
  readonly grant: string;
  readonly family: string;
  readonly token: string;
  readonly tokenExpiresAt: number;
  readonly scope: string;
}

export interface RecordRow {
  readonly access: Access;
  /** Order of the commit. */
  readonly at: number;
  readonly databaseTime: number;
  readonly refused: boolean;
}

/** The consent schema at one moment; never changed, only replaced. */
export interface LedgerState {
  readonly apps: ReadonlyMap<string, AppRow>;
  readonly grants: ReadonlyMap<string, GrantRow>;
  readonly pending: ReadonlyMap<string, PendingRow>;
  readonly families: ReadonlyMap<string, RevokedRow>;
  readonly tokens: ReadonlyMap<string, RevokedRow>;
  readonly records: ReadonlyMap<string, RecordRow>;
}

export const EMPTY_LEDGER: LedgerState = {
  apps: new Map(),
  grants: new Map(),
  pending: new Map(),
  families: new Map(),
  tokens: new Map(),
  records: new Map(),
};

export function withRow<Row>(
  table: ReadonlyMap<string, Row>,
  key: string,
  row: Row,
): ReadonlyMap<string, Row> {
  return new Map(table).set(key, row);
}

export type GrantStatus = 'active' | 'expired' | 'revoked';

export function statusOf({ apps }: LedgerState, grant: GrantRow, now: number): GrantStatus {
  if (grant.revoked || grant.epoch < (apps.get(grant.app)?.epoch ?? 0)) return 'revoked';
  return grant.expiresAt <= now ? 'expired' : 'active';
}

export type Verdict =
  | 'released'
  | 'token_expired'
  | 'app_not_alive'
  | 'family_revoked'
  | 'token_revoked'
  | 'grant_revoked'
  | 'grant_expired'
  | 'scope_withdrawn';

/** The judgement of one access, in the order of the statement that does it. */
export function judgeAccess(
  { apps, grants, families, tokens }: LedgerState,
  access: Access,
  now: number,
  variant: VariantName | null,
): Verdict {
  const app = apps.get(access.app);
  const grant = grants.get(access.grant);
  if (access.tokenExpiresAt <= now && variant !== 'expiry-by-the-gateway-clock') return 'token_expired';
  if (app?.status !== 'active') return 'app_not_alive';
  if (families.has(access.family)) return 'family_revoked';
  if (tokens.has(access.token)) return 'token_revoked';
  if (grant === undefined || grant.revoked || grant.app !== access.app) return 'grant_revoked';
  if (grant.user !== access.user) return 'grant_revoked';
  if (grant.epoch !== app.epoch && variant !== 'epoch-ignored') return 'grant_revoked';
  if (grant.expiresAt <= now) return 'grant_expired';
  if (!grant.scopes.includes(access.scope) && variant !== 'narrowing-not-in-the-ledger')
    return 'scope_withdrawn';
  return 'released';
}

/** Whom authorization asks the ledger about; null is not asked about. */
export interface LivenessQuery {
  readonly app: string;
  readonly epoch: number;
  readonly grant: string;
  readonly family: string | null;
  readonly token: string | null;
}

export interface Liveness {
  readonly appAlive: boolean;
  readonly familyAlive: boolean;
  readonly tokenAlive: boolean;
  readonly grant: (GrantRow & { readonly status: GrantStatus }) | null;
}

export function checkLiveness(state: LedgerState, query: LivenessQuery, now: number): Liveness {
  const app = state.apps.get(query.app);
  const grant = state.grants.get(query.grant);
  return {
    appAlive: app?.status === 'active' && app.epoch === query.epoch,
    familyAlive: query.family === null || !state.families.has(query.family),
    tokenAlive: query.token === null || !state.tokens.has(query.token),
    grant: grant === undefined ? null : { ...grant, status: statusOf(state, grant, now) },
  };
}
