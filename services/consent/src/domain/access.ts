/** What the judgement after the record came to; all but `released` are refusals. */
export type Verdict =
  | 'released'
  | 'token_expired'
  | 'token_revoked'
  | 'family_revoked'
  | 'grant_revoked'
  | 'grant_expired'
  | 'scope_withdrawn'
  | 'app_not_alive'
  | 'window_changed'
  | 'restore_unconfirmed';

/** What comes of a judgement: a verdict, or that the record does not carry the reference of its grant, so that nothing may be released. */
export type Judgement = Verdict | 'reference_differs';

/** What is kept of an access: never values, never tokens. */
interface RecordedAccess {
  readonly clientId: string;
  readonly grantId: string;
  readonly scope: string;
  readonly endpoint: string;
  readonly from: string;
  readonly to: string;
  readonly page: number;
  /** Items in the answer. */
  readonly recordCount: number;
  readonly requestId: string;
}

/** One answer about to be released, with what decides about it. */
export interface Access extends RecordedAccess {
  readonly userId: string;
  readonly familyId: string;
  /** SHA-256 of the access token; judged, not recorded. */
  readonly tokenHash: Uint8Array;
  /** Unix seconds. */
  readonly tokenExpiresAt: number;
  /** The data window that the answer was computed for, `YYYY-MM-DD`; empty is everything. */
  readonly dataFrom: string;
}

/** An access record as its person sees it in the access history. */
export interface AccessEntry extends RecordedAccess {
  readonly id: string;
  readonly at: Date;
  /** As the person saw it at the latest approval of the grant before the access; empty when the app is unknown to the ledger. */
  readonly appName: string;
  readonly currentAppName: string;
  readonly verdict: Verdict;
}

/** Accesses of one person's data by one app on one UTC day. */
export interface AccessDay {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly clientId: string;
  /** As the person saw it at the latest approval, of one grant where only its accesses are asked for; empty when the app is unknown to the ledger. */
  readonly appName: string;
  readonly currentAppName: string;
  readonly released: number;
  readonly refused: number;
}

/** The requests of one app at one endpoint on one UTC day. */
export interface AppUsage {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly endpoint: string;
  readonly released: number;
  /** At least the number of recorded answers that did not leave, and at least the sum of `refusals`. */
  readonly refused: number;
  /** As the gateways counted them, in the order of the status. */
  readonly refusals: readonly StatusCount[];
}

export interface StatusCount {
  /** Of HTTP. */
  readonly status: number;
  readonly count: number;
}

/** Requests of one app that a gateway refused with one status on one UTC day at one endpoint. */
export interface RefusalCount extends StatusCount {
  readonly clientId: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly endpoint: string;
}

/** Public form of a record's id. */
export function toAccessId(uuid: string): string {
  return `acc_${uuid.replaceAll('-', '')}`;
}

/** The UUID of the record, without hyphens; null when the text is no such id. */
export function findAccessUuid(id: string): string | null {
  return /^acc_([0-9a-f]{32})$/.exec(id)?.[1] ?? null;
}
