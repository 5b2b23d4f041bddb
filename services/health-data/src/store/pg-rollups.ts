import { readStatement, type Statement } from '@phds/service-kit/postgres/statement';
import type pg from 'pg';
import { DEFAULT_TIME_ZONE } from '../domain/profile.ts';
import { ADDITIVE_TYPES, type Gathering, RANGES, TYPES } from './rollup-types.ts';
import { ROLLUP_VERSIONS } from './rollup-version.ts';

// Everything here runs inside writeForUser, so nobody else writes readings, profile or rollups of the user at the same time.

const STATE = readStatement(new URL('sql/rollup-state.sql', import.meta.url));

/** A statement, and its values besides those that all steps have. */
interface Step extends Statement {
  readonly values?: readonly unknown[];
}

const REFRESH_HOURS: { readonly [G in Gathering]: readonly Step[] } = {
  average: [
    {
      ...readStatement(new URL('sql/refresh-hours-average.sql', import.meta.url)),
      values: RANGES.average,
    },
  ],
  'by-start': [readStatement(new URL('sql/refresh-hours-by-start.sql', import.meta.url))],
  'by-end': [
    readStatement(new URL('sql/clear-hours-by-end.sql', import.meta.url)),
    readStatement(new URL('sql/refresh-hours-by-end.sql', import.meta.url)),
  ],
};

const REFRESH_SPANS: readonly Step[] = [
  { ...readStatement(new URL('sql/refresh-days.sql', import.meta.url)), values: RANGES.additive },
  { ...readStatement(new URL('sql/refresh-months.sql', import.meta.url)), values: [ADDITIVE_TYPES] },
  readStatement(new URL('sql/refresh-years.sql', import.meta.url)),
];

/** The state of a user's rollups. */
export interface RollupState {
  /** The zone that they must have. */
  readonly timeZone: string;
  /** Whether the tables agree with the readings. */
  readonly valid: boolean;
  /** Of the rollups that are there; null if there are none. */
  readonly version: string | null;
  /** Whether a write has made them invalid. */
  readonly isMarked: boolean;
}

export async function findRollupState(
  client: pg.ClientBase,
  userId: string,
  versions = ROLLUP_VERSIONS,
): Promise<RollupState> {
  const values = [userId, versions[0], DEFAULT_TIME_ZONE];
  const { rows } = await client.query<RollupState>({ ...STATE, values });
  return rows[0] ?? { timeZone: DEFAULT_TIME_ZONE, valid: false, version: null, isMarked: false };
}

/** Hours of the user's zone with changed readings, of types with the same gathering; in pairs, as array literals. */
export interface TouchedHours {
  readonly gathering: Gathering;
  readonly types: string;
  readonly hours: string;
}

/** Recomputes the touched hours and the spans above them from the current readings. */
export async function refreshRollups(
  client: pg.ClientBase,
  userId: string,
  timeZone: string,
  touched: readonly TouchedHours[],
): Promise<void> {
  for (const { gathering, types, hours } of touched) {
    for (const { name, text, values = [] } of [...REFRESH_HOURS[gathering], ...REFRESH_SPANS]) {
      await client.query({ name, text, values: [userId, timeZone, types, hours, ...values] });
    }
  }
}

// Up to this number a rebuild takes about a second, during which the writer waits.
const MAX_REBUILT_AT_ONCE = 200_000;

const MARK = "UPDATE rollup_state SET time_zone = '', version = $2 WHERE user_id = $1";

/**
 * Rebuilds all rollups of the user. Returns false if that is left to the background: for too many readings, and for rollups of an earlier
 * release, because one that still runs would rebuild them in its next write. Those of a newer release are left to that release. Rows
 * that are not rebuilt are made invalid: they must not become valid again when the zone changes back, or for the other release.
 */
export async function rebuildSmall(
  client: pg.ClientBase,
  userId: string,
  { timeZone, version, isMarked }: RollupState,
  versions = ROLLUP_VERSIONS,
): Promise<boolean> {
  const [own] = versions;
  if (version !== null && (version !== own || isMarked)) {
    const isNewer = !versions.includes(version);
    await client.query(MARK, [userId, isNewer ? version : own]);
    return isNewer;
  }
  const { rows } = await client.query<{ few: boolean }>(
    "SELECT coalesce(sum(count), 0) <= $2 AS few FROM reading_count WHERE user_id = $1 AND span = 'all'",
    [userId, MAX_REBUILT_AT_ONCE],
  );
  if (rows[0]?.few === true) {
    await rebuildRollups(client, userId, timeZone, own);
    return true;
  }
  await client.query('DELETE FROM rollup_state WHERE user_id = $1', [userId]);
  return false;
}

const FILL: readonly (readonly [Statement, (userId: string, timeZone: string) => unknown[]])[] = [
  [
    readStatement(new URL('sql/fill-hours-average.sql', import.meta.url)),
    (userId, timeZone) => [userId, timeZone, TYPES.average, ...RANGES.average],
  ],
  [
    readStatement(new URL('sql/fill-hours-by-start.sql', import.meta.url)),
    (userId, timeZone) => [userId, timeZone, TYPES['by-start']],
  ],
  [
    readStatement(new URL('sql/fill-hours-by-end.sql', import.meta.url)),
    (userId, timeZone) => [userId, timeZone, TYPES['by-end']],
  ],
  [
    readStatement(new URL('sql/fill-days.sql', import.meta.url)),
    (userId, timeZone) => [userId, timeZone, ...RANGES.additive],
  ],
  [readStatement(new URL('sql/fill-months.sql', import.meta.url)), (userId) => [userId, ADDITIVE_TYPES]],
  [readStatement(new URL('sql/fill-years.sql', import.meta.url)), (userId) => [userId]],
];

// A user without readings has no row, so a rebuild requested before an erasure restores nothing.
const KEEP_STATE = `
  INSERT INTO rollup_state (user_id, time_zone, version)
  SELECT $1, $2, $3 WHERE EXISTS (SELECT FROM reading WHERE user_id = $1)`;

/** Rebuilds all rollups of the user. */
export async function rebuildRollups(
  client: pg.ClientBase,
  userId: string,
  timeZone: string,
  version: string,
): Promise<void> {
  for (const table of ['hour_rollup', 'day_rollup', 'rollup_state']) {
    await client.query(`DELETE FROM ${table} WHERE user_id = $1`, [userId]);
  }
  for (const [{ text }, toValues] of FILL) {
    await client.query(text, toValues(userId, timeZone));
  }
  await client.query(KEEP_STATE, [userId, timeZone, version]);
}
