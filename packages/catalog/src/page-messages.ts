/** The messages that the gateway shows a browser in place of a page, in the document of the web app, which has the texts. */
export const PAGE_MESSAGES = [
  'SIGN_IN_NOT_SET_UP',
  'SIGN_IN_ENDED',
  'SIGN_IN_REFUSED',
  'SIGN_IN_UNAVAILABLE',
  'SIGN_IN_FAILED',
  'SIGN_IN_TOKEN_TOO_LONG',
  'SIGN_INS_LIMITED',
  'AUTHORIZATION_LINK_INVALID',
  'AUTHORIZATION_REFUSED',
  'AUTHORIZATION_UNAVAILABLE',
  'DOCUMENTATION_NOT_READY',
] as const;

export type PageMessageCode = (typeof PAGE_MESSAGES)[number];

/** The values of `error` (RFC 6749 4.1.2.1, OpenID Connect Core 3.1.2.6) of a refused authorization request. */
export const AUTHORIZATION_ERRORS = [
  'invalid_request',
  'invalid_scope',
  'unsupported_response_type',
  'request_not_supported',
  'request_uri_not_supported',
] as const;

/** A message with what the page needs to show it. Nothing in it is a text of the request, except the host and address of `wayBack`. */
export interface PageMessage {
  readonly code: PageMessageCode;
  /** Leads the operator to the reason in the log. */
  readonly requestId?: string;
  /** Path and query of a new sign-in. */
  readonly signIn?: string;
  readonly error?: (typeof AUTHORIZATION_ERRORS)[number];
  readonly wayBack?: WayBack;
}

/** The way back to the app. Anybody can register an app, so the person decides whether to follow it. */
export interface WayBack {
  /** A registered redirect URI of the app, with the error. */
  readonly url: string;
  readonly host: string;
  /** Whether it is known that the person shares nothing with the app. */
  readonly isStranger: boolean;
}
