// Every lifetime of the public interface, with the unit in its name. Configuration may shorten them, but never exceed the maxima.

const HOUR = 3600;
const DAY = 24 * HOUR;

/** The longest time that the old secret of an app or a webhook endpoint works beside its new one. */
export const SECRET_OVERLAP_MAX_SECONDS = 7 * DAY;

/** Maximum lifetime of an authorization code. */
export const AUTHORIZATION_CODE_MAX_SECONDS = 600;

/** Default lifetime of an authorization code. */
export const AUTHORIZATION_CODE_DEFAULT_SECONDS = 300;

/** Maximum lifetime of a code of an app without a secret. */
export const PUBLIC_CODE_SECONDS = 60;

/** Maximum lifetime of an access token, which also never outlives its grant. */
export const ACCESS_TOKEN_SECONDS = HOUR;

/** Lifetime of a refresh token. Sliding: it restarts at each rotation, but never exceeds the grant's. */
export const REFRESH_TOKEN_SECONDS = 30 * DAY;

/** Lifetime of an access token of an app without a secret. */
export const PUBLIC_ACCESS_TOKEN_SECONDS = 600;

/** How long a pending approval waits for the user before it expires. */
export const PENDING_APPROVAL_SECONDS = 600;

/** How often a person may extend that time, each time to the full length from then on (WCAG 2.2, success criterion 2.2.1). */
export const PENDING_APPROVAL_EXTENSIONS = 10;

/** How long a rotated refresh token can be presented again for the same successor pair. */
export const RETRY_WINDOW_SECONDS = 60;

/** The same for a refresh token without a key of an app without a secret, which a thief could repeat. */
export const UNBOUND_RETRY_WINDOW_SECONDS = 10;

/** Maximum time until a revocation holds for all derived tokens; also the lifetime of a cache entry. */
export const REVOCATION_PROPAGATION_SECONDS = 60;

/** Maximum lifetime of the signed access assertion between services. */
export const ACCESS_ASSERTION_SECONDS = 60;

/** How long an expired access token gets TOKEN_EXPIRED instead of UNAUTHORIZED. */
export const EXPIRED_TOKEN_MEMORY_SECONDS = 24 * HOUR;

/** The lifetimes of a consent grant that a user can choose, in days. */
export const GRANT_DAYS_CHOICES = [1, 30, 90, 180, 365] as const;

/** Default lifetime of a consent grant, in days. */
export const GRANT_DAYS_DEFAULT: GrantDays = 90;

/** A selectable lifetime of a consent grant, in days. */
type GrantDays = (typeof GRANT_DAYS_CHOICES)[number];

export function isGrantDays(days: number): days is GrantDays {
  return (GRANT_DAYS_CHOICES as readonly number[]).includes(days);
}
