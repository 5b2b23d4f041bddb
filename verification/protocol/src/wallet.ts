import type { AccessFacts } from './trace.ts';

export interface RegisteredApp {
  readonly clientId: string;
  /** Empty while it has none. */
  clientSecret: string;
  /** Number of its requested revocations. */
  epoch: number;
}

export interface HeldGrant {
  readonly id: string;
  readonly app: RegisteredApp;
}

/** Everything derived from one exchange of a code. */
export interface HeldFamily {
  readonly app: RegisteredApp;
  readonly facts: Omit<AccessFacts, 'scope' | 'token' | 'expiresAt'>;
  readonly code: string;
  /** Oldest first. */
  readonly refreshTokens: string[];
  /** Number of running refreshes. */
  refreshing: number;
}

export interface HeldToken {
  readonly app: RegisteredApp;
  readonly facts: Omit<AccessFacts, 'scope'>;
  readonly secret: string;
  readonly hash: Uint8Array;
  /** The first facts that authorization returned for it. */
  remembered: Principal | null;
}

/** The facts of a live token according to authorization. */
export interface Principal {
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly familyId: string;
  readonly scopes: readonly string[];
  readonly dataFrom: string;
  /** By the clock of the database, in milliseconds. */
  expiresAt: number;
}

/** Everything that was issued, oldest first; nothing is removed when it ends. */
export class Wallet {
  readonly grants: HeldGrant[] = [];
  readonly families: HeldFamily[] = [];
  readonly tokens: HeldToken[] = [];
}

/** The `which`-th newest, else the oldest, if there is any. */
export function pick<T>(held: readonly T[], which: number): T | undefined {
  return held.at(-1 - which) ?? held[0];
}
