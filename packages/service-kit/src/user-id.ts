import { invalidRequest } from './errors.ts';

/** Maximum length of a subject (OpenID Connect Core 1.0 section 2), in UTF-16 code units. */
const MAX_LENGTH = 255;
const CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * Whether a value is a valid user id (the subject of a session): a well-formed string of 1 to 255 characters without control
 * characters.
 */
export function isUserId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_LENGTH &&
    !CONTROL_CHARACTER.test(value) &&
    value.isWellFormed()
  );
}

/** Validates a user id. Throws `invalid_request` naming `parameter` when it is invalid. */
export function parseUserId(text: string, parameter = 'userId'): string {
  if (isUserId(text)) return text;
  throw invalidRequest(parameter, `must be 1 to ${MAX_LENGTH} characters without control characters`);
}
