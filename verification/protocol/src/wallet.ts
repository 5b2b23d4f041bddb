import type { AccessFacts } from './trace.ts';

export interface RegisteredApp {
  readonly clientId: string;
  /** Empty while it has none. */
  clientSecret: string;
  /** Revocations of it that were asked for. */
  epoch: number;
}

export interface HeldGrant {
  readonly id: string;
  readonly app: RegisteredApp;
}

/** What came from one exchange of a code. */
export interface HeldFamily {
  readonly app: RegisteredApp;
  readonly facts: Omit<AccessFacts, 'scope' | 'token' | 'expiresAt'>;
  readonly code: string;
  /** Oldest first. */
  readonly refreshTokens: string[];
  /** Refreshes under way. */
  refreshing: number;
}

export interface HeldToken {
  readonly app: RegisteredApp;
  readonly facts: Omit<AccessFacts, 'scope'>;
  readonly secret: string;
  readonly hash: Uint8Array;
  /** What authorization told of it first. */
  remembered: Principal | null;
}

/** What authorization tells of a live token. */
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

/** What people were given, oldest first; nothing is thrown away when it ends. */
export class Wallet {
  readonly grants: HeldGrant[] = [];
  readonly families: HeldFamily[] = [];
  readonly tokens: HeldToken[] = [];
}

/** The `which`-th newest, else the oldest, if there is any. */
export function pick<T>(held: readonly T[], which: number): T | undefined {
  return held.at(-1 - which) ?? held[0];
}
