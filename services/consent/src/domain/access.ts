/** The result of the judgement after recording; all except `released` are refusals. */
export const VERDICTS = [
  'released',
  'token_expired',
  'token_revoked',
  'family_revoked',
  'grant_revoked',
  'grant_expired',
  'scope_withdrawn',
  'app_not_alive',
  'window_changed',
  'restore_unconfirmed',
] as const;

export type Verdict = (typeof VERDICTS)[number];

/**
 * The result of a judgement: a verdict, or that the record lacks the reference of its grant, in which case nothing may be released.
 */
export type Judgement = Verdict | 'reference_differs';

/** The recorded part of an access: no values, no tokens. */
interface RecordedAccess {
  readonly clientId: string;
  readonly grantId: string;
  /** Names of scopes in catalog order, joined by single spaces. */
  readonly scope: string;
  readonly endpoint: string;
  readonly from: string;
  readonly to: string;
  readonly page: number;
  /** Number of items in the response. */
  readonly recordCount: number;
  readonly requestId: string;
}

/** A response about to be released, with the data for its judgement. */
export interface Access extends RecordedAccess {
  readonly userId: string;
  readonly familyId: string;
  /** SHA-256 of the access token; used for the judgement, not recorded. */
  readonly tokenHash: Uint8Array;
  /** Unix seconds. */
  readonly tokenExpiresAt: number;
  /** The data window used for the response, `YYYY-MM-DD`; empty for none. */
  readonly dataFrom: string;
}

/** An access record as shown in its person's access history. */
export interface AccessEntry extends RecordedAccess {
  readonly id: string;
  readonly at: Date;
  /** As shown to the person at the latest approval of the grant before the access; empty when the app is unknown. */
  readonly appName: string;
  readonly currentAppName: string;
  readonly verdict: Verdict;
}

/** The accesses to one person's data by one app on one day. */
export interface AccessDay {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly clientId: string;
  /** As shown to the person at the latest approval (of the filtered grant, if any); empty when the app is unknown. */
  readonly appName: string;
  readonly currentAppName: string;
  readonly released: number;
  readonly refused: number;
  /** The same by recorded scope, in the order of their names. */
  readonly scopes: readonly ScopeAccesses[];
  /** Requests that gateways refused before anything was read, after the person had narrowed or ended the grant; by UTC day. */
  readonly attempts: number;
}

export interface ScopeAccesses {
  /** As recorded. */
  readonly scope: string;
  readonly released: number;
  readonly refused: number;
}

/** The requests of one app at one endpoint on one UTC day. */
export interface AppUsage {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly endpoint: string;
  readonly released: number;
  /** At least the number of recorded but refused responses, and at least the sum of `refusals`. */
  readonly refused: number;
  /** As counted by the gateways, ordered by status. */
  readonly refusals: readonly StatusCount[];
  /** Refused requests with a live token of the app whose key they did not prove. */
  readonly withoutKey: number;
  /** The grant that lacks consent; empty for other reasons. */
  readonly grantId: string;
}

export interface StatusCount {
  /** HTTP status. */
  readonly status: number;
  readonly count: number;
}

/** The requests of one app that gateways refused with one status on one UTC day at one endpoint. */
export interface RefusalCount extends StatusCount {
  readonly clientId: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly endpoint: string;
  /** How many of them had a live token of the app, but did not prove its key. */
  readonly withoutKey: number;
  /** The grant that lacks consent; empty for other reasons. */
  readonly grantId: string;
}

/** The public id of a record. */
export function toAccessId(uuid: string): string {
  return `acc_${uuid.replaceAll('-', '')}`;
}

/** The UUID of the record, without hyphens; null when the text is not a public record id. */
export function findAccessUuid(id: string): string | null {
  return /^acc_([0-9a-f]{32})$/.exec(id)?.[1] ?? null;
}
