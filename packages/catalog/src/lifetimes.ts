// Every lifetime the specification fixes, with its unit in the name. Configuration may shorten them, never lengthen
// those that interface.md 5.3 caps.

const HOUR = 3600;
const DAY = 24 * HOUR;

/** Longest life of an authorization code (interface.md 5.3). */
export const AUTHORIZATION_CODE_MAX_SECONDS = 600;

/** Life of an authorization code unless configured otherwise (contract section 3). */
export const AUTHORIZATION_CODE_DEFAULT_SECONDS = 300;

/** Longest life of an access token; it never outlives its grant either (interface.md 5.3, contract section 3). */
export const ACCESS_TOKEN_SECONDS = HOUR;

/** Life of a refresh token: sliding, so it restarts at each rotation, never past the grant (interface.md 5.3). */
export const REFRESH_TOKEN_SECONDS = 30 * DAY;

/** How long a pending approval waits for the user before it reads as expired (contract section 5). */
export const PENDING_APPROVAL_SECONDS = 600;

/** How long a rotated refresh token may be presented again for the same successor pair (contract section 3). */
export const RETRY_WINDOW_SECONDS = 60;

/** Longest time until a revocation holds for all derived tokens; also the life of a cache entry (interface.md 8). */
export const REVOCATION_PROPAGATION_SECONDS = 60;

/** Longest life of the signed access assertion between services (contract section 8). */
export const ACCESS_ASSERTION_SECONDS = 60;

/** How long an expired access token is still told TOKEN_EXPIRED instead of UNAUTHORIZED (contract section 2). */
export const EXPIRED_TOKEN_MEMORY_SECONDS = 24 * HOUR;

/** The lives of a consent grant a user may choose from, in days (contract section 5). */
export const GRANT_DAYS_CHOICES = [1, 30, 90, 180, 365] as const;

/** Life of a consent grant, in days, when the user chooses none (contract section 5). */
export const GRANT_DAYS_DEFAULT: GrantDays = 90;

/** A life of a consent grant that a user may choose, in days. */
export type GrantDays = (typeof GRANT_DAYS_CHOICES)[number];

/** Whether a number of days is one of the choices. */
export function isGrantDays(days: number): days is GrantDays {
  return (GRANT_DAYS_CHOICES as readonly number[]).includes(days);
}
