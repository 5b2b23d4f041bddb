/** The public explanation of an error code. */
export interface Problem {
  /** The HTTP statuses that the code is used with. */
  readonly statuses: readonly number[];
  /** What happened, in one or two sentences. */
  readonly meaning: string;
  /** What the caller can do about it. */
  readonly action: string;
}

/** Every error code, with its statuses and the explanation that `GET /problems/<code>` shows. */
export const PROBLEMS = {
  UNAUTHORIZED: {
    statuses: [401],
    meaning:
      'The request could not be authenticated. Every cause has this one answer: no credentials or wrong ones, an unknown, suspended or ' +
      'revoked app, a revoked token or grant, a session where an access token belongs, and the reverse.',
    action:
      'Check which credential the endpoint takes and that the secret is the current one. Refresh the access token once. If the refresh ' +
      'is refused too, ask the person for a new approval.',
  },
  TOKEN_EXPIRED: {
    statuses: [401],
    meaning:
      'The access token is past its expiry. This is told for 24 hours; after that the answer is UNAUTHORIZED.',
    action: 'Get a new access token with the refresh token, then repeat the request.',
  },
  INSUFFICIENT_SCOPE: {
    statuses: [403],
    meaning: 'The access token was not issued with the scope of this endpoint. `requiredScope` names it.',
    action: 'Send the person through a new authorization request that asks for this scope.',
  },
  CONSENT_REQUIRED: {
    statuses: [403],
    meaning:
      'No active consent of a person covers this endpoint. The grant has expired, the person has withdrawn the scope, or the token ' +
      'belongs to the app alone (client credentials).',
    action:
      'Ask the person for a new approval. A refresh does not help. `scope` in introspection names what works now.',
  },
  NOT_A_DEVELOPER: {
    statuses: [403],
    meaning: 'This service lets only some people register apps, and the signed-in person is none of them.',
    action: 'Ask the operator of the service to admit you as a developer.',
  },
  RATE_LIMITED: {
    statuses: [429],
    meaning:
      'A limit is used up: of the app, of the person, or of failed authentications. `RateLimit-Policy` names the limit.',
    action: 'Wait for the seconds in `Retry-After`, then go on more slowly. `RateLimit` tells what is left.',
  },
  INVALID_REQUEST: {
    statuses: [400, 405, 406, 408, 413, 415, 417, 431],
    meaning:
      'The request is malformed. `errors` names every parameter at fault. 405, under `/oauth` only: see METHOD_NOT_ALLOWED. ' +
      '406, under `/fhir` only: the client takes no JSON. 408: the request did not arrive in time. 413 and 431: it is too large. 415: the body has another media type.',
    action: 'Change the request. The same request again gets the same answer.',
  },
  UNSUPPORTED_VERSION: {
    statuses: [400],
    meaning: 'The path or the `API-Version` field asks for a version of the API that does not exist.',
    action: 'Use one of `supportedVersions`, which `GET /api/versions` lists too.',
  },
  NOT_FOUND: {
    statuses: [404],
    meaning: 'There is nothing at this address, or it belongs to somebody else. The two are not told apart.',
    action: 'Check the path and the id.',
  },
  METHOD_NOT_ALLOWED: {
    statuses: [405],
    meaning:
      'The path exists, but not with this method. `Allow` names the methods that it has. Under `/oauth` the code is INVALID_REQUEST.',
    action: 'Use one of these methods.',
  },
  CURSOR_EXPIRED: {
    statuses: [410],
    meaning:
      'The cursor no longer holds. Readings before it may have changed unseen: the person shares from an earlier time, their data was ' +
      'erased, or the database was restored from a backup. Or the cursor is too old. Of a FHIR search: consent for a part of it has ended.',
    action:
      'Start again with `updatedSince=1970-01-01T00:00:00Z`, and delete the stored readings that the new answers do not have; or start ' +
      'the FHIR search again.',
  },
  ACCESS_NOT_RECORDED: {
    statuses: [503],
    meaning: 'The record of the access could not be made durable, and no data leaves without one.',
    action: 'Repeat the request after the seconds in `Retry-After`.',
  },
  INTERNAL_ERROR: {
    statuses: [500, 503],
    meaning: 'Something failed on the side of the service. 503: a part of it is away for now.',
    action:
      'Repeat the request later, after the seconds in `Retry-After` if there are any. If it goes on, report the `requestId`.',
  },
  CONFLICT: {
    statuses: [409],
    meaning:
      'The present state does not allow the change. For example, a developer has as many apps as are allowed, an operator keeps the app ' +
      'from being active, the app has changed its settings since it asked for an approval, or what the person shares with it has changed ' +
      'since the approval screen showed it.',
    action:
      'Read the resource again and decide by what it says. For a request of an app whose settings changed: start again in the app.',
  },
  PENDING_EXPIRED: {
    statuses: [409],
    meaning:
      'The time to decide on this request of an app is over, so it can be neither decided nor extended.',
    action: 'Start again in the app, which makes a new request.',
  },
  ALREADY_DECIDED: {
    statuses: [409],
    meaning:
      'This request of an app was decided or cancelled before. The decision that was sent is another one, or the code of the approval is used or expired.',
    action: 'Nothing is left to do. To change what an app may read, change or revoke its grant.',
  },
  APP_NOT_ACTIVE: {
    statuses: [409],
    meaning: 'The app is suspended or revoked, so nothing can be approved for it.',
    action: 'Its developer can set it active again.',
  },
  NO_SCOPES_APPROVED: {
    statuses: [400],
    meaning: 'The approval names no scope. The request of the app stays pending.',
    action: 'Approve at least one of the requested scopes, or deny the request.',
  },
  INVALID_GRANT: {
    statuses: [400],
    meaning:
      'The authorization code or refresh token does not work. It is unknown, expired, used or another app’s, `redirect_uri` or ' +
      '`code_verifier` is wrong, the grant has ended or lost all scopes of the token, ' +
      'or the settings of the app were tightened after the person was asked.',
    action: 'Send the person through a new authorization request.',
  },
  INVALID_SCOPE: {
    statuses: [400],
    meaning:
      'The scope is empty, unknown or not registered for the app. Or a refresh asks for more than the person shares, or than the tokens began with.',
    action:
      'Ask for scopes of the app alone; at a refresh, leave `scope` out. `GET /oauth/scopes` lists all scopes.',
  },
  UNSUPPORTED_GRANT_TYPE: {
    statuses: [400],
    meaning: 'The token endpoint does not know this `grant_type`.',
    action: 'Use `authorization_code`, `refresh_token` or `client_credentials`.',
  },
  UNAUTHORIZED_CLIENT: {
    statuses: [400, 403],
    meaning:
      'The app is authenticated and may not do this. 403: `/oauth/grants` was asked with an access token that acts for a person.',
    action: 'For `/oauth/grants` use the app’s own access token (`grant_type=client_credentials`).',
  },
  INVALID_DPOP_PROOF: {
    statuses: [400],
    meaning:
      'The `DPoP` field of a request under `/oauth` is wrong. It is missing though the app needs one, is not a valid proof (RFC 9449), or ' +
      'was used before. Under `/api` the answer to the same mistakes is UNAUTHORIZED.',
    action:
      'Make a proof for each request: `htm` POST, `htu` the public URL of the endpoint, `iat` now, a new `jti`, signed with ES256, ' +
      'EdDSA, Ed25519 or PS256 by the key in `jwk`.',
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
