import type { AppRow, AppStatus } from './ledger.ts';

export interface CodeRow {
  readonly code: string;
  readonly user: string;
  readonly app: string;
  readonly grant: string;
  readonly epoch: number;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  family: string | null;
}

export interface FamilyRow {
  readonly id: string;
  /** What the outside world knows it by. */
  readonly lineage: string;
  readonly user: string;
  readonly app: string;
  readonly grant: string;
  readonly epoch: number;
  readonly scopes: readonly string[];
  revoked: boolean;
}

export interface TokenRow {
  readonly token: string;
  readonly family: FamilyRow;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  revoked: boolean;
}

export interface RefreshRow {
  readonly token: string;
  readonly family: FamilyRow;
  /** How many refreshes came before it. */
  readonly number: number;
  rotatedAt: number | null;
  successor: RefreshRow | null;
}

/** Authorization's own tables: at best as new as the ledger, after a crash behind it. */
export interface AuthorizationTables {
  readonly apps: Map<string, AppRow>;
  readonly codes: Map<string, CodeRow>;
  readonly families: Map<string, FamilyRow>;
  readonly tokens: Map<string, TokenRow>;
  readonly refreshTokens: Map<string, RefreshRow>;
}

/** What the token endpoint answers, with the facts that a client cannot see and the trace tells. */
export interface IssuedTokens {
  readonly access: TokenRow;
  readonly refresh: RefreshRow;
}

export function emptyTables(apps: ReadonlyMap<string, AppRow>): AuthorizationTables {
  return {
    apps: new Map(apps),
    codes: new Map(),
    families: new Map(),
    tokens: new Map(),
    refreshTokens: new Map(),
  };
}

/** Stores a pair; the names follow from family and number, as derived secrets follow from the token before. */
export function storePair(
  tables: AuthorizationTables,
  family: FamilyRow,
  number: number,
  expiresAt: number,
): IssuedTokens {
  const { lineage, scopes } = family;
  const access = { token: `${lineage}.access${number}`, family, scopes, expiresAt, revoked: false };
  const refresh = { token: `${lineage}.refresh${number}`, family, number, rotatedAt: null, successor: null };
  tables.families.set(family.id, family);
  tables.tokens.set(access.token, access);
  tables.refreshTokens.set(refresh.token, refresh);
  return { access, refresh };
}

export function isLife(tables: AuthorizationTables, app: string, epoch: number): boolean {
  const row = tables.apps.get(app);
  return row?.status === 'active' && row.epoch === epoch;
}

/** Takes over what the ledger says, if it is newer. */
export function applyStanding(tables: AuthorizationTables, app: string, standing: AppRow): void {
  const own = tables.apps.get(app);
  if (own === undefined || own.revision < standing.revision) tables.apps.set(app, standing);
}

/** What authorization notes when it is the first to write. */
export function presumeStatus(tables: AuthorizationTables, app: string, status: AppStatus): void {
  const own = tables.apps.get(app);
  if (own !== undefined) tables.apps.set(app, { ...own, status });
}
