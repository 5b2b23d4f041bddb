/** A person's session, as its token describes it. */
export interface IssuedSession {
  /** SHA-256 of the token without its signature. */
  readonly tokenHash: Uint8Array;
  /** The session at the identity provider; null when the token names none. */
  readonly sid: string | null;
  readonly subject: string;
  readonly issuedAt: Date;
}

/** Which sessions end. Null names none. */
export interface SessionEnding {
  readonly tokenHash: Uint8Array | null;
  readonly sid: string | null;
  /** Together with a sid: the subject's sessions without a sid. Alone: all of the subject. */
  readonly subject: string | null;
  /** Sessions of the sid or the subject that were issued in a later second go on. */
  readonly endedAt: Date;
}
