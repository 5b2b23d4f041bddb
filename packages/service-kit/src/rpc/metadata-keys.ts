/** Carries a person's session JWT to the called service. */
export const SESSION_METADATA = 'phds-session';

/** Carries the ids of the requests that a call is made for, separated by commas. */
export const REQUEST_ID_METADATA = 'x-request-id';

/** Carries the place of a call in a trace (W3C trace context). */
export const TRACEPARENT_METADATA = 'traceparent';

/** Carries the access assertion to health-data. */
export const ASSERTION_METADATA = 'phds-assertion';
