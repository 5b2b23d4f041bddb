import { isDate } from '@phds/catalog/instants';
import { findTimeZone, NO_TIME_ZONE } from '@phds/catalog/time-zones';
import { BLOOD_TYPES, type BloodType, GENDERS, type Gender } from '@phds/catalog/wire-names';
import type { Violation } from '@phds/service-kit/errors';

/** The known facts about a person; null for unknown. */
export interface Profile {
  readonly name: string | null;
  readonly gender: Gender | null;
  /** YYYY-MM-DD. */
  readonly dateOfBirth: string | null;
  readonly bloodType: BloodType | null;
}

/** The changes of a profile; an absent field is kept, null clears it. */
export interface ProfileChanges {
  name?: string | null;
  gender?: Gender | null;
  dateOfBirth?: string | null;
  bloodType?: BloodType | null;
  /** IANA zone. */
  timeZone?: string | null;
  /** IANA zone, used only for a person without one. */
  defaultTimeZone?: string | null;
}

/** Changes before validation: absent keeps, empty clears. */
export type ProfileDraft = { readonly [Field in keyof ProfileChanges]?: string | undefined };

/** The zone of a person who has set none. */
export const DEFAULT_TIME_ZONE = 'UTC';

const NAME_MAX = 200;

/** Validates every field and returns the changes together with the violations. */
export function checkProfile(draft: ProfileDraft): { changes: ProfileChanges; violations: Violation[] } {
  const violations: Violation[] = [];
  const changes: ProfileChanges = {};
  const take = <Key extends keyof ProfileChanges>(
    key: Key,
    find: (text: string) => ProfileChanges[Key] | undefined,
    message: string,
  ) => {
    const text = draft[key];
    if (text === undefined) return;
    const value = text === '' ? null : find(text);
    if (value === undefined) violations.push({ parameter: key, message });
    else changes[key] = value;
  };
  take('name', findName, `must be at most ${NAME_MAX} characters of plain text`);
  take('gender', (text) => GENDERS.find((gender) => gender === text), `must be one of ${GENDERS.join(', ')}`);
  take('dateOfBirth', (text) => (isDate(text) ? text : undefined), 'must be a date (YYYY-MM-DD)');
  take(
    'bloodType',
    (text) => BLOOD_TYPES.find((type) => type === text),
    `must be one of ${BLOOD_TYPES.join(', ')}`,
  );
  const toTimeZone = (text: string) => findTimeZone(text) ?? undefined;
  take('timeZone', toTimeZone, NO_TIME_ZONE);
  take('defaultTimeZone', toTimeZone, NO_TIME_ZONE);
  return { changes, violations };
}

function findName(text: string): string | null | undefined {
  const name = text.trim();
  if (name === '') return null;
  return name.length > NAME_MAX || /\p{Cc}/u.test(name) || !name.isWellFormed() ? undefined : name;
}
