import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/user-id';
import type { ImportKey } from '../domain/import-progress.ts';
import { checkProfile, type Profile, type ProfileDraft } from '../domain/profile.ts';
import type { DataRequest } from './data-request.ts';
import { type Answer, toObjectAnswer } from './document.ts';
import type { ProfileStore, ProfileWriter } from './ports.ts';

export const UNKNOWN_PERSON: Profile = { name: null, gender: null, dateOfBirth: null, bloodType: null };

/** The profile; all nulls for an unknown person. */
export async function readProfile(
  ports: { readonly profiles: ProfileStore },
  { userId }: DataRequest,
): Promise<Answer> {
  const profile = await ports.profiles.find(userId);
  return toObjectAnswer(profile ?? UNKNOWN_PERSON, profile === null ? 0 : 1);
}

/** Sets the fields of the draft. Throws INVALID_REQUEST naming each invalid field; then nothing is changed. */
export async function putProfile(
  profiles: ProfileWriter,
  userId: string,
  draft: ProfileDraft,
  during: ImportKey | null = null,
): Promise<void> {
  parseUserId(userId);
  const { changes, violations } = checkProfile(draft);
  if (violations.length > 0) throw invalidRequest(violations);
  await profiles.put(userId, changes, during);
}
