/**
 * A trace: what was asked and answered, as seen from outside, and the access records as found in the database at the end.
 * The simulation writes one; a test of the real processes writes one from the logs of its clients. Its format is one JSON
 * object an event, in any order. Times `at` are numbers on one clock (a counter, or milliseconds of one machine); "after"
 * is strict, so events of the same millisecond count as concurrent and are never held against anybody.
 */
export type TraceEvent =
  | RequestStarted
  | RequestAnswered
  | AccessRecorded
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
  /** The code of a refusal; told in messages, not judged. */
  readonly reason?: string;
}

/** An access record that is in the database when the run is over. */
export interface AccessRecorded {
  readonly kind: 'recorded';
  /** When it was committed; of real processes `recorded_at` of its batch, which is a little earlier and so the milder judge. */
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
  | { readonly kind: 'app'; readonly app: string };

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
