import { invalidRequest } from './errors.ts';

/** As long as a subject may be (OpenID Connect Core 1.0 section 2), in UTF-16 code units. */
const MAX_LENGTH = 255;
const CONTROL_CHARACTER = /\p{Cc}/u;

/** Whether a value can be a user id, which is the subject of a session: a well-formed text of 1 to 255 characters, none of them a control character. */
export function isUserId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_LENGTH &&
    !CONTROL_CHARACTER.test(value) &&
    value.isWellFormed()
  );
}

/** The text as a user id. Throws `invalid_request`, naming `parameter`, when it cannot be one. */
export function parseUserId(text: string, parameter = 'userId'): string {
  if (isUserId(text)) return text;
  throw invalidRequest(parameter, `must be 1 to ${MAX_LENGTH} characters without control characters`);
}
