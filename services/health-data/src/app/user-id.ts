import { invalidRequest } from '@phds/service-kit/errors';

const MAX_LENGTH = 128;

/** Throws INVALID_REQUEST unless the text can be a user id: the subject of a session. */
export function checkUserId(userId: string): void {
  if (userId !== '' && userId.length <= MAX_LENGTH && !/\p{Cc}/u.test(userId) && userId.isWellFormed())
    return;
  throw invalidRequest('userId', `must be 1 to ${MAX_LENGTH} characters`);
}
