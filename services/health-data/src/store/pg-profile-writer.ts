import { invalidRequest } from '@phds/service-kit/errors';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type pg from 'pg';
import type { ProfileWriter } from '../app/ports.ts';
import type { ProfileChanges } from '../domain/profile.ts';
import { writeForUser } from './database.ts';

type Columns = Omit<ProfileChanges, 'defaultTimeZone'>;

const PUT = readStatement(new URL('sql/put-profile.sql', import.meta.url));

/** Column of every field, in the order of the values of the statement. */
const COLUMNS: { readonly [Field in keyof Columns]-?: string } = {
  name: 'name',
  gender: 'gender',
  dateOfBirth: 'date_of_birth',
  bloodType: 'blood_type',
  timeZone: 'time_zone',
};
const FIELDS = Object.keys(COLUMNS) as (keyof Columns)[];

/** Writes profiles. */
export function createPgProfileWriter(pool: pg.Pool): ProfileWriter {
  return translatingErrors({
    async put(userId, { defaultTimeZone, ...given }, during = null) {
      const write = async (client: pg.PoolClient) => {
        if (typeof given.timeZone === 'string') await checkZone(client, given.timeZone);
        const changes = { ...(await toDefault(client, userId, defaultTimeZone)), ...given };
        const columns = FIELDS.filter((field) => field in changes).map((field) => COLUMNS[field]);
        await client.query({ ...PUT, values: [userId, ...FIELDS.map((field) => changes[field]), columns] });
      };
      await writeForUser(pool, userId, write, { during });
    },
  });
}

const UNKNOWN_ZONE = '22023';

/** The change that a default zone causes: none if the user has a zone, or if nothing could be summarised in it. */
async function toDefault(
  client: pg.ClientBase,
  userId: string,
  timeZone: string | null | undefined,
): Promise<Columns> {
  if (timeZone === null || timeZone === undefined) return {};
  const own = await client.query('SELECT FROM profile WHERE user_id = $1 AND time_zone IS NOT NULL', [
    userId,
  ]);
  if (own.rowCount !== 0) return {};
  const known = await client.query('SELECT FROM pg_timezone_names WHERE lower(name) = lower($1)', [timeZone]);
  return known.rowCount === 0 ? {} : { timeZone };
}

/** Postgres may lack a zone that JavaScript knows; nothing could be summarised in it. */
async function checkZone(client: pg.ClientBase, timeZone: string): Promise<void> {
  try {
    await client.query('SELECT timezone($1, now())', [timeZone]);
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNKNOWN_ZONE) throw error;
    throw invalidRequest('timeZone', 'must be a time zone that the database knows');
  }
}
