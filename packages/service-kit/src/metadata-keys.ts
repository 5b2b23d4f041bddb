/** Carries a person's session JWT to the called service. */
export const SESSION_METADATA = 'phds-session';

/** Carries the access assertion to health-data. */
export const ASSERTION_METADATA = 'phds-assertion';
