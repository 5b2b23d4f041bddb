import { isDate } from '@phds/catalog/instants';
import { startOfDay } from '@phds/catalog/local-time';
import { findTimeZone, NO_TIME_ZONE } from '@phds/catalog/time-zones';
import { BLOOD_TYPES, type BloodType, GENDERS, type Gender } from '@phds/catalog/wire-names';
import { invalidRequest, type Violation } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import { type Queryable, queryRows, readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { type ImportName, isUnknownZone, writeForUser } from './database.ts';
import { type Answer, toObjectAnswer } from './document.ts';
import type { DataRequest } from './request.ts';

export const UNKNOWN_PERSON: Profile = { name: null, gender: null, dateOfBirth: null, bloodType: null };

/** The profile; all nulls for an unknown person. */
export async function readProfile(
  parts: { readonly profiles: Profiles },
  { userId }: DataRequest,
): Promise<Answer> {
  const profile = await parts.profiles.find(userId);
  return toObjectAnswer(profile ?? UNKNOWN_PERSON, profile === null ? 0 : 1);
}

/** Sets the fields of the draft. Throws INVALID_REQUEST naming each invalid field; then nothing is changed. */
export async function putProfile(
  profiles: Profiles,
  {
    userId,
    import: during,
    ...draft
  }: ProfileDraft & { readonly userId: string; readonly import?: ImportName | undefined },
): Promise<void> {
  parseUserId(userId);
  const { changes, violations } = checkProfile(draft);
  if (violations.length > 0) throw invalidRequest(violations);
  await profiles.put(userId, changes, during);
}

/** The user's zone, or UTC if none is set. */
async function getTimeZone(profiles: Profiles, userId: string): Promise<string> {
  return (await profiles.findTimeZone(userId)) ?? DEFAULT_TIME_ZONE;
}

interface Grant {
  readonly userId: string;
  /** First day that the app may see (YYYY-MM-DD); null for no limit. */
  readonly dataFrom: string | null;
}

/** Start of the grant's data window: midnight in the user's zone; null for no limit. */
export async function findSince(profiles: Profiles, grant: Grant): Promise<Date | null> {
  return grant.dataFrom === null ? null : (await findOwnWindow(profiles, grant)).since;
}

/** The user's zone, and the start of the grant's data window in it. */
export async function findOwnWindow(
  profiles: Profiles,
  { userId, dataFrom }: Grant,
): Promise<{ timeZone: string; since: Date | null }> {
  const timeZone = await getTimeZone(profiles, userId);
  return { timeZone, since: dataFrom === null ? null : startOfDay(dataFrom, timeZone) };
}

// No user has this many rows, and it fits into the database's integers.
const MAX_OFFSET = 2 ** 31 - 1;

/** The rows of a page. */
export function toSlice(query: { readonly page: number; readonly pageSize: number }) {
  return { limit: query.pageSize, offset: Math.min((query.page - 1) * query.pageSize, MAX_OFFSET) };
}

const FIND = readStatement(new URL('sql/find-profile.sql', import.meta.url));
const FIND_ZONE = readStatement(new URL('sql/find-time-zone.sql', import.meta.url));
const TRY_ZONE = readStatement(new URL('sql/try-zone.sql', import.meta.url));
const PUT = readStatement(new URL('sql/put-profile.sql', import.meta.url));

type Columns = Omit<ProfileChanges, 'defaultTimeZone'>;

/** Column of every field, in the order of the values of the statement. */
const COLUMNS: { readonly [Field in keyof Columns]-?: string } = {
  name: 'name',
  gender: 'gender',
  dateOfBirth: 'date_of_birth',
  bloodType: 'blood_type',
  timeZone: 'time_zone',
};
const FIELDS = Object.keys(COLUMNS) as (keyof Columns)[];

export type Profiles = ReturnType<typeof createProfiles>;

/** Profiles of people. Stored values were validated, so their codes are those of the catalog. */
export function createProfiles(pool: pg.Pool) {
  return {
    /** Null when nothing is known. */
    async find(userId: string): Promise<Profile | null> {
      const [profile] = await queryRows<Profile>(pool, FIND, userId);
      return profile ?? null;
    },
    /** The user's zone; null if none is set. */
    findTimeZone: (userId: string) => findZone(pool, userId),
    /** Sets the present fields and keeps the rest. Throws INVALID_REQUEST for a zone that the database does not know. */
    async put(
      userId: string,
      { defaultTimeZone, ...given }: ProfileChanges,
      during?: ImportName,
    ): Promise<void> {
      if (!(await isKnownZone(pool, given.timeZone)))
        throw invalidRequest('timeZone', 'must be a time zone that the database knows');
      const hasDefault = Boolean(defaultTimeZone) && (await isKnownZone(pool, defaultTimeZone));
      const write = async (client: pg.PoolClient) => {
        const isDefault = hasDefault && (await findZone(client, userId)) === null;
        const changes: Columns = { ...(isDefault ? { timeZone: defaultTimeZone } : {}), ...given };
        const columns = FIELDS.filter((field) => field in changes).map((field) => COLUMNS[field]);
        await runStatement(client, PUT, userId, ...FIELDS.map((field) => changes[field]), columns);
      };
      await writeForUser(pool, userId, write, during);
    },
  };
}

async function findZone(database: Queryable, userId: string): Promise<string | null> {
  const [row] = await queryRows<{ time_zone: string | null }>(database, FIND_ZONE, userId);
  return row?.time_zone ?? null;
}

/** Whether Postgres knows a zone, if one is given. It may lack one that JavaScript knows; nothing could be summarised in it. */
async function isKnownZone(pool: pg.Pool, timeZone: string | null | undefined): Promise<boolean> {
  if (timeZone === null || timeZone === undefined) return true;
  try {
    await runStatement(pool, TRY_ZONE, timeZone);
    return true;
  } catch (error) {
    if (isUnknownZone(error)) return false;
    throw error;
  }
}

/** The known facts about a person; null for unknown. */
export interface Profile {
  readonly name: string | null;
  readonly gender: Gender | null;
  /** YYYY-MM-DD. */
  readonly dateOfBirth: string | null;
  readonly bloodType: BloodType | null;
}

/** The changes of a profile; an absent field is kept, null clears it. */
interface ProfileChanges {
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
const DEFAULT_TIME_ZONE = 'UTC';

const NAME_MAX = 200;

/** Validates every field and returns the changes together with the violations. */
function checkProfile(draft: ProfileDraft): { changes: ProfileChanges; violations: Violation[] } {
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
