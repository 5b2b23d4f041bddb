/**
 * A trace: requests and responses as seen from outside, and the access records found in the database at the end. Written by the
 * replay of a history and by the clients of the fault suite. Events may be in any order. Times `at` are numbers on one clock (a
 * counter, or milliseconds of one machine). "After" is strict: events of the same time count as concurrent, and concurrent events
 * break no promise.
 */
export type TraceEvent =
  | RequestStarted
  | RequestAnswered
  | AccessRecorded
  | EndingAsked
  | EndingAcknowledged
  | AccessRestored
  | GrantEnded;

/** A request for data is sent by the client. */
export interface RequestStarted {
  readonly kind: 'request-started';
  readonly at: number;
  /** Unique in the trace; the request id in the access record. */
  readonly request: string;
  readonly access: AccessFacts;
}

/** The facts behind a request. */
export interface AccessFacts {
  /** Any name for the access token, such as its hash. */
  readonly token: string;
  /** Everything derived from one exchange of a code; the client may number its exchanges. */
  readonly family: string;
  readonly grant: string;
  readonly user: string;
  readonly app: string;
  /**
   * The app's epoch of the grant: how many revocations of the app had been requested before the approval was requested (counted by
   * the client; the larger number when uncertain).
   */
  readonly epoch: number;
  /** As recorded: one, or several separated by spaces. */
  readonly scope: string;
  /** Expiry of the token in milliseconds of the database's clock (`access_token.expires_at`); not judged when null. */
  readonly expiresAt: number | null;
}

/** The first byte of the response left the service (for real processes: reached the client). At most one for each request. */
export interface RequestAnswered {
  readonly kind: 'answered';
  readonly at: number;
  readonly request: string;
  /** True for every response computed from a person's rows: 200, 304, the 404 of a missing row. */
  readonly data: boolean;
  /** The first allowed day of the data (YYYY-MM-DD); empty for no limit, not judged when absent. */
  readonly dataFrom?: string;
  /** The code of a refusal, used in messages only. */
  readonly reason?: string;
  /**
   * Whether the refusal states that something ended the access, so that somebody must have requested that. Not judged when absent.
   */
  readonly saysEnded?: boolean;
}

/** An access record in the database at the end of the run. */
export interface AccessRecorded {
  readonly kind: 'recorded';
  /** When its insert was sent to the database, or `recorded_at` of its batch; both are slightly earlier than its commit. */
  readonly at: number;
  readonly request: string;
  readonly app: string;
  readonly grant: string;
  readonly scope: string;
  /** Whether a later record refers to this one and states that the response was refused. */
  readonly refused: boolean;
  /** `access_batch.recorded_at` in milliseconds of the database's clock; not judged when null. */
  readonly databaseTime: number | null;
}

/** An ending is requested. */
interface EndingAsked {
  readonly kind: 'asked';
  /** Time of the first attempt. */
  readonly at: number;
  readonly ended: Ending;
}

/** An ending was requested and acknowledged. Not used for a request without a definite response. */
export interface EndingAcknowledged {
  readonly kind: 'acknowledged';
  /** Time of the response. */
  readonly at: number;
  /** Time of the first attempt. */
  readonly askedAt: number;
  readonly ended: Ending;
}

/** The subjects of endings. The first three and an app's epoch end permanently. */
export type Ending =
  /** POST /oauth/revoke of an access token. */
  | { readonly kind: 'token'; readonly token: string }
  /** POST /oauth/revoke of a refresh token; the 400 for a replayed code or for the reuse of a refresh token. */
  | { readonly kind: 'family'; readonly family: string }
  /** DELETE of a grant, and each known grant in a revoke-all. */
  | { readonly kind: 'grant'; readonly grant: string }
  /** The app was revoked; accesses of an epoch below this one are dead. */
  | { readonly kind: 'app-life'; readonly app: string; readonly epoch: number }
  | Restorable;

/** The endings that can be undone. */
export type Restorable =
  /** Narrowing, or an approval without a scope that it requested. */
  | { readonly kind: 'scope'; readonly user: string; readonly app: string; readonly scope: string }
  /** The app was suspended; it is `active` again when its status is set. */
  | { readonly kind: 'app'; readonly app: string }
  /** Data from before this day is no longer shared. Restoring it restores all days. */
  | { readonly kind: 'days'; readonly user: string; readonly app: string; readonly before: string };

/** Something that may restore an access was requested: an approval with the scope, or the status `active`. */
export interface AccessRestored {
  readonly kind: 'restored';
  /** Time of the first attempt. */
  readonly at: number;
  /** When it can no longer take effect; null while an attempt may still be running. */
  readonly answeredAt: number | null;
  readonly restores: Restorable;
}

/** A grant was observed to be over (status `expired` or `revoked`). */
export interface GrantEnded {
  readonly kind: 'grant-ended';
  readonly at: number;
  readonly grant: string;
}
