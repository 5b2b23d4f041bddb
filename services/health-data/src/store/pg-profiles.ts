import type { BloodType, Gender } from '@phds/catalog/wire-names';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type pg from 'pg';
import type { ProfileStore } from '../app/ports.ts';

interface ProfileRow {
  readonly name: string | null;
  readonly gender: Gender | null;
  readonly date_of_birth: string | null;
  readonly blood_type: BloodType | null;
}

const PROFILE = 'SELECT name, gender, date_of_birth::text, blood_type FROM profile WHERE user_id = $1';
const ZONE = 'SELECT time_zone FROM profile WHERE user_id = $1';

/** Reads profiles. Stored values were validated by the domain, so their codes are the domain's. */
export function createPgProfiles(pool: pg.Pool): ProfileStore {
  return translatingErrors({
    async find(userId) {
      const { rows } = await pool.query<ProfileRow>({ name: 'profile', text: PROFILE, values: [userId] });
      const [row] = rows;
      if (row === undefined) return null;
      const { name, gender, date_of_birth: dateOfBirth, blood_type: bloodType } = row;
      return { name, gender, dateOfBirth, bloodType };
    },
    // Every read limited by a grant starts with this query, so it is as cheap as possible.
    async findTimeZone(userId) {
      const { rows } = await pool.query<{ time_zone: string | null }>({
        name: 'time-zone',
        text: ZONE,
        values: [userId],
      });
      return rows[0]?.time_zone ?? null;
    },
  });
}
