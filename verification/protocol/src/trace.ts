/**
 * A trace: what was asked and answered, as seen from outside, and the access records as found in the database at the end. The
 * replay of a history writes one, and so do the clients of the fault suite. Events may be in any order. Times `at` are numbers
 * on one clock (a counter, or milliseconds of one machine). "After" is strict: events of the same time count as concurrent, and
 * what is concurrent breaks no promise.
 */
export type TraceEvent =
  | RequestStarted
  | RequestAnswered
  | AccessRecorded
  | EndingAsked
  | EndingAcknowledged
  | AccessRestored
  | GrantEnded;

/** A request for data leaves the client. */
export interface RequestStarted {
  readonly kind: 'request-started';
  readonly at: number;
  /** Unique in the trace; the request id that the access record carries. */
  readonly request: string;
  readonly access: AccessFacts;
}

/** What stands behind a request. */
export interface AccessFacts {
  /** Any name for the access token, such as its hash. */
  readonly token: string;
  /** Everything that came from one exchange of a code; the client may number its exchanges. */
  readonly family: string;
  readonly grant: string;
  readonly user: string;
  readonly app: string;
  /**
   * Which life of the app the grant was made in: how many revocations of the app had begun to be asked for before the
   * approval was asked for (a client counts them itself; when in doubt the larger number).
   */
  readonly epoch: number;
  readonly scope: string;
  /** End of the token in milliseconds of the database's clock (`access_token.expires_at`); null is not judged. */
  readonly expiresAt: number | null;
}

/** The first byte of the answer left the service; of real processes: reached the client. At most one for each request. */
export interface RequestAnswered {
  readonly kind: 'answered';
  readonly at: number;
  readonly request: string;
  /** True for every answer computed from a person's rows: 200, 304, the 404 of a missing row. */
  readonly data: boolean;
  /** The first day that the data may be from (YYYY-MM-DD); empty is everything, absent is not judged. */
  readonly dataFrom?: string;
  /** The code of a refusal; told in messages, not judged. */
  readonly reason?: string;
  /** The refusal says that something ended the access, so somebody must have asked for that. Absent: not judged. */
  readonly saysEnded?: boolean;
}

/** An access record that is in the database when the run is over. */
export interface AccessRecorded {
  readonly kind: 'recorded';
  /** When its insert was sent to the database, or `recorded_at` of its batch; both are a little earlier than its commit. */
  readonly at: number;
  readonly request: string;
  readonly app: string;
  readonly grant: string;
  readonly scope: string;
  /** Whether a later record refers to this one and says that the answer was refused. */
  readonly refused: boolean;
  /** `access_batch.recorded_at` in milliseconds of the database's clock; null is not judged. */
  readonly databaseTime: number | null;
}

/** Somebody asks to end something. */
export interface EndingAsked {
  readonly kind: 'asked';
  /** The first attempt was sent. */
  readonly at: number;
  readonly ended: Ending;
}

/** Somebody asked to end something and was told that it is done. Never for a request without a definite answer. */
export interface EndingAcknowledged {
  readonly kind: 'acknowledged';
  /** The answer arrived. */
  readonly at: number;
  /** The first attempt was sent. */
  readonly askedAt: number;
  readonly ended: Ending;
}

/** What may end. The first three and an app's life end for good. */
export type Ending =
  /** POST /oauth/revoke of an access token. */
  | { readonly kind: 'token'; readonly token: string }
  /** POST /oauth/revoke of a refresh token; the 400 to a replayed code or to the reuse of a refresh token. */
  | { readonly kind: 'family'; readonly family: string }
  /** DELETE of a grant, and each grant that was known before a revoke-all. */
  | { readonly kind: 'grant'; readonly grant: string }
  /** The app was revoked; accesses of an epoch below this one are dead. */
  | { readonly kind: 'app-life'; readonly app: string; readonly epoch: number }
  | Restorable;

/** What may end and come back. */
export type Restorable =
  /** Narrowing, or an approval that drops what it asked for. */
  | { readonly kind: 'scope'; readonly user: string; readonly app: string; readonly scope: string }
  /** The app was suspended; it is `active` again when somebody says so. */
  | { readonly kind: 'app'; readonly app: string }
  /** Data from before this day are not shared any more. What restores it, restores all days. */
  | { readonly kind: 'days'; readonly user: string; readonly app: string; readonly before: string };

/** Somebody asked for what may bring something back: an approval with the scope, the status `active`. */
export interface AccessRestored {
  readonly kind: 'restored';
  /** The first attempt was sent. */
  readonly at: number;
  /** Since when it cannot take effect any more; null while an attempt may still be under way. */
  readonly answeredAt: number | null;
  readonly restores: Restorable;
}

/** Somebody saw that a grant is over (status `expired` or `revoked`). */
export interface GrantEnded {
  readonly kind: 'grant-ended';
  readonly at: number;
  readonly grant: string;
}
