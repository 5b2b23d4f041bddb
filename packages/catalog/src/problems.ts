/** The public explanation of an error code. */
export interface Problem {
  /** The HTTP statuses that the code is used with. */
  readonly statuses: readonly number[];
  /** What happened, as Markdown. */
  readonly meaning: string;
  /** What the caller can do about it, as Markdown. */
  readonly action: string;
}

/** Every error code, with its statuses and the explanation that `GET /problems/<code>` shows. */
export const PROBLEMS = {
  UNAUTHORIZED: {
    statuses: [401],
    meaning:
      'Authentication failed. Every cause has this one answer: no or wrong credentials, an unknown, suspended or ' +
      'revoked app, a revoked token or grant, a session in place of an access token, and the reverse.',
    action:
      'Check which credential the endpoint takes, and the secret. Refresh once; if that is refused too, ask the ' +
      'person for a new approval.',
  },
  TOKEN_EXPIRED: {
    statuses: [401],
    meaning: 'The access token is past its expiry. More than 24 hours after it, the answer is UNAUTHORIZED.',
    action: 'Refresh, then repeat the request.',
  },
  INSUFFICIENT_SCOPE: {
    statuses: [403],
    meaning: 'The access token was issued without the scope of this endpoint, `requiredScope`.',
    action: 'Ask the person for this scope.',
  },
  CONSENT_REQUIRED: {
    statuses: [403],
    meaning:
      'No active consent covers this endpoint: the grant has expired, the person has withdrawn the scope, or the ' +
      'token belongs to the app alone (client credentials).',
    action:
      'Ask the person for a new approval; a refresh does not help. `scope` of an introspection names what works ' +
      'now.',
  },
  NOT_A_DEVELOPER: {
    statuses: [403],
    meaning: 'On this service only some people may register apps; the signed-in person is none of them.',
    action: 'Ask the operator to admit you as a developer.',
  },
  RATE_LIMITED: {
    statuses: [429],
    meaning: 'A limit is used up; `RateLimit-Policy` names it.',
    action: 'Wait for the seconds in `Retry-After`, then go on more slowly. `RateLimit` tells what is left.',
  },
  INVALID_REQUEST: {
    statuses: [400, 405, 406, 408, 413, 415, 417, 431],
    meaning:
      'The request is malformed; `errors` names every parameter at fault. 405: METHOD_NOT_ALLOWED under `/oauth`. ' +
      '406: a client of `/fhir` that takes no JSON. 408: it did not arrive in time. 413, 431: it is too large. 415: ' +
      'the body has another media type.',
    action: 'Change the request.',
  },
  UNSUPPORTED_VERSION: {
    statuses: [400],
    meaning: 'The path or `API-Version` asks for a version that does not exist.',
    action: 'Use one of `supportedVersions`.',
  },
  NOT_FOUND: {
    statuses: [404],
    meaning: 'Nothing is at this address, or it belongs to somebody else; the two are not told apart.',
    action: 'Check the path and the id.',
  },
  METHOD_NOT_ALLOWED: {
    statuses: [405],
    meaning: 'The path exists, but not with this method.',
    action: 'Use a method that `Allow` names.',
  },
  CURSOR_EXPIRED: {
    statuses: [410],
    meaning:
      'Readings before the cursor may have changed unseen: the person shares from an earlier time, their data was ' +
      'erased, the database was restored from a backup, or the cursor is too old. Of a FHIR search: consent for a ' +
      'part of it has ended.',
    action:
      'Start again with `updatedSince=1970-01-01T00:00:00Z` and delete the stored readings that do not come back, ' +
      'or start the FHIR search again.',
  },
  ACCESS_NOT_RECORDED: {
    statuses: [503],
    meaning: 'The record of the access could not be made durable; without it no data leaves.',
    action: 'Repeat after the seconds in `Retry-After`.',
  },
  INTERNAL_ERROR: {
    statuses: [500, 503],
    meaning: 'Something failed in the service. 503: a part of it is away for now.',
    action: 'Repeat later, after `Retry-After` if there is one. If it goes on, report the `requestId`.',
  },
  CONFLICT: {
    statuses: [409],
    meaning:
      'The present state does not allow the change: for example, the developer has as many apps as are allowed, an ' +
      'operator keeps the app from being active, or, since the person was asked, the app has changed its settings ' +
      'or the person what they share with it.',
    action: 'Read the resource again. If an app has changed its settings, start again in the app.',
  },
  PENDING_EXPIRED: {
    statuses: [409],
    meaning: 'The time to decide on this request of an app is over.',
    action: 'Start again in the app.',
  },
  ALREADY_DECIDED: {
    statuses: [409],
    meaning:
      'This request of an app was decided otherwise or cancelled, or the code of its approval is used or expired.',
    action: 'To change what an app may read, change or revoke its grant.',
  },
  APP_NOT_ACTIVE: {
    statuses: [409],
    meaning: 'Nothing can be approved for this app, because it is suspended or revoked.',
    action: 'Its developer can set it active again.',
  },
  NO_SCOPES_APPROVED: {
    statuses: [400],
    meaning: 'The approval names no scope. The request stays pending.',
    action: 'Approve at least one of the requested scopes, or deny the request.',
  },
  INVALID_GRANT: {
    statuses: [400],
    meaning:
      'The authorization code or refresh token is unknown, expired, used or another app’s; `redirect_uri` or ' +
      '`code_verifier` is wrong; the grant has ended or lost all scopes of the token; or the app has tightened its ' +
      'settings since the person was asked.',
    action: 'Ask the person for a new approval.',
  },
  INVALID_SCOPE: {
    statuses: [400],
    meaning:
      'The scope is empty, unknown or not registered for the app. At a refresh: it is more than the person shares, ' +
      'or than the tokens began with.',
    action: 'Ask only for scopes that the app is registered for; at a refresh, leave `scope` out.',
  },
  UNSUPPORTED_GRANT_TYPE: {
    statuses: [400],
    meaning: 'The token endpoint does not know this `grant_type`.',
    action: 'Use `authorization_code`, `refresh_token` or `client_credentials`.',
  },
  UNAUTHORIZED_CLIENT: {
    statuses: [400, 403],
    meaning:
      'The app is authenticated and may not do this. 403: the access token sent to `/oauth/grants` acts for a ' +
      'person.',
    action: 'For `/oauth/grants`, use a token of the app itself (`grant_type=client_credentials`).',
  },
  INVALID_DPOP_PROOF: {
    statuses: [400],
    meaning:
      'The `DPoP` field of a request under `/oauth` is missing though the app needs it, is no valid proof (RFC ' +
      '9449), or was used before. Under `/api` the answer is UNAUTHORIZED.',
    action: 'Make a [proof](sender-constrained.md#proofs) for each request.',
  },
} as const satisfies Readonly<Record<string, Problem>>;

/** The `detail` of CURSOR_EXPIRED. */
export const CURSOR_EXPIRED_DETAIL =
  'The cursor no longer holds. Start again with updatedSince=1970-01-01T00:00:00Z, and delete the stored readings that the new ' +
  'answers do not have.';

/** The error codes, a closed set. */
export type ProblemCode = keyof typeof PROBLEMS;

/** The HTTP statuses that a code comes with. */
export type ProblemStatus<Code extends ProblemCode> = (typeof PROBLEMS)[Code]['statuses'][number];

export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

/** The `type` of RFC 9457: the URL of the page about a code, relative to the server. */
export function toProblemType(code: ProblemCode): string {
  return `/problems/${code.toLowerCase().replaceAll('_', '-')}`;
}
