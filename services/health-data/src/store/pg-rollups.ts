import type pg from 'pg';
import { DEFAULT_TIME_ZONE } from '../domain/profile.ts';
import { FILL_SPANS, REFRESH_SPANS } from './day-rollup-sql.ts';
import { FILL_HOURS, REFRESH_HOURS } from './hour-rollup-sql.ts';
import type { Gathering } from './rollup-sql.ts';
import { ROLLUP_VERSION } from './rollup-version.ts';

// Everything here runs within writeForUser: nobody else writes readings, profile or rollups of the user meanwhile.

/** Where the rollups of a user stand. */
export interface RollupState {
  /** The zone that they are to be made for. */
  readonly timeZone: string;
  /** Whether the tables hold what the readings come to. */
  readonly valid: boolean;
}

const STATE = `
  SELECT wanted.time_zone AS "timeZone",
    coalesce(state.time_zone = wanted.time_zone AND state.version = $2, false) AS valid
  FROM (SELECT coalesce((SELECT time_zone FROM profile WHERE user_id = $1), $3) AS time_zone) AS wanted
  LEFT JOIN rollup_state AS state ON state.user_id = $1`;

export async function findRollupState(client: pg.ClientBase, userId: string): Promise<RollupState> {
  const values = [userId, ROLLUP_VERSION, DEFAULT_TIME_ZONE];
  const { rows } = await client.query<RollupState>({ name: 'rollup-state', text: STATE, values });
  return rows[0] ?? { timeZone: DEFAULT_TIME_ZONE, valid: false };
}

/** Hours of the user's zone whose readings changed, of types that are gathered alike; in pairs, as array literals. */
export interface TouchedHours {
  readonly gathering: Gathering;
  readonly types: string;
  readonly hours: string;
}

/** Recomputes the touched hours and what lies above them from what the readings are now. */
export async function refreshRollups(
  client: pg.ClientBase,
  userId: string,
  timeZone: string,
  touched: readonly TouchedHours[],
): Promise<void> {
  for (const { gathering, types, hours } of touched) {
    const values = [userId, timeZone, types, hours];
    for (const [step, text] of REFRESH_HOURS[gathering].entries()) {
      await client.query({ name: `refresh-${gathering}-${step}`, text, values });
    }
    for (const [step, text] of REFRESH_SPANS.entries()) {
      await client.query({ name: `refresh-spans-${step}`, text, values });
    }
  }
}

// Up to here a rebuild takes about a second, and whoever writes waits for it.
const MAX_REBUILT_AT_ONCE = 200_000;

/**
 * Makes all rollups of the user anew, unless there are too many readings to wait for: then they count as not valid, and
 * the answer is false. What is in the tables by then must not be taken for valid when the zone changes back.
 */
export async function rebuildSmall(
  client: pg.ClientBase,
  userId: string,
  timeZone: string,
): Promise<boolean> {
  const { rows } = await client.query<{ few: boolean }>(
    "SELECT coalesce(sum(count), 0) <= $2 AS few FROM reading_count WHERE user_id = $1 AND span = 'all'",
    [userId, MAX_REBUILT_AT_ONCE],
  );
  if (rows[0]?.few === true) {
    await rebuildRollups(client, userId, timeZone);
    return true;
  }
  await client.query('DELETE FROM rollup_state WHERE user_id = $1', [userId]);
  return false;
}

// Who has no readings has no row: a rebuild that was asked for before an erasure brings nothing of the person back.
const KEEP_STATE = `
  INSERT INTO rollup_state (user_id, time_zone, version)
  SELECT $1, $2, $3 WHERE EXISTS (SELECT FROM reading WHERE user_id = $1)`;

/** Makes all rollups of the user anew. */
export async function rebuildRollups(client: pg.ClientBase, userId: string, timeZone: string): Promise<void> {
  for (const table of ['hour_rollup', 'day_rollup', 'rollup_state']) {
    await client.query(`DELETE FROM ${table} WHERE user_id = $1`, [userId]);
  }
  for (const text of [...FILL_HOURS, ...FILL_SPANS]) {
    await client.query(text, [userId, timeZone]);
  }
  await client.query(KEEP_STATE, [userId, timeZone, ROLLUP_VERSION]);
}
