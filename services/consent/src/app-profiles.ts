import {
  PROFILE_FIELDS,
  type Profile,
  type ProfileField,
  readProfile,
  toProfile,
} from '@phds/catalog/app-profile';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';

/** An app as reported by authorization. */
export interface ReportedApp extends Profile {
  readonly clientId: string;
  /** User id of the developer. */
  readonly ownerId: string;
  /** Time of the developer's last change. */
  readonly updatedAt: Date;
}

/** One version of an app's profile, numbered from 1. */
interface ShownVersion extends Profile {
  readonly version: number;
}

/** A version with its start; it ended when the next one started. */
export interface ProfileVersion extends ShownVersion {
  readonly since: Date;
}

/** An app as shown on an approval screen. It is fixed when the request is opened, so that the decision applies to what was shown. */
export interface ShownApp extends ShownVersion {
  /** Host that receives the response. */
  readonly redirectHost: string;
}

/** Number of latest versions that are kept, besides the first. */
const KEPT_VERSIONS = 20;

/** A row with a profile as it is stored. It lacks the texts that the catalog got later. */
type Stored<Row extends Profile> = Omit<Row, ProfileField> & { readonly profile: Partial<Profile> };

const withTexts = <Row extends object>({
  profile,
  ...row
}: Row & { readonly profile: Partial<Profile> }) => ({
  ...row,
  ...readProfile(profile),
});

/**
 * Stores the profile reported by authorization unless a newer one is known, because reports may arrive out of order. Returns the
 * current version. The transaction holds a lock on the app's row, so that versions are added in sequence.
 */
export async function takeProfile(tx: pg.ClientBase, app: ReportedApp): Promise<ShownVersion> {
  const { clientId } = app;
  const reported = sql`${toProfile((field) => app[field])}::jsonb, ${app.updatedAt}::timestamptz`;
  await execute(tx)`
    UPDATE app SET (profile, profile_updated_at) = ROW(${reported})
    WHERE client_id = ${clientId} AND profile_updated_at <= ${app.updatedAt}::timestamptz
      AND (profile, profile_updated_at) IS DISTINCT FROM (${reported})`;
  return keepVersion(tx, clientId);
}

/** Adds the app's profile as a version unless it is already the latest, and returns the latest. */
async function keepVersion(tx: pg.ClientBase, clientId: string): Promise<ShownVersion> {
  const [kept] = await select<Stored<ShownVersion>>(tx)`
    WITH present AS (
      SELECT profile FROM app WHERE client_id = ${clientId}
    ), latest AS (
      SELECT version, profile FROM app_profile WHERE client_id = ${clientId} ORDER BY version DESC LIMIT 1
    ), added AS (
      INSERT INTO app_profile (client_id, version, since, profile)
      SELECT ${clientId}, coalesce((SELECT version FROM latest), 0) + 1, statement_timestamp(), profile
      FROM (SELECT profile FROM present EXCEPT SELECT profile FROM latest) changed
      RETURNING version
    ), dropped AS (
      DELETE FROM app_profile
      WHERE client_id = ${clientId} AND version BETWEEN 2 AND (SELECT version - ${KEPT_VERSIONS}::int FROM added)
    )
    SELECT coalesce((SELECT version FROM added), (SELECT version FROM latest)) AS version, profile
    FROM present`;
  if (kept === undefined) throw new Error(`app ${clientId} is gone although its row is locked`);
  return withTexts(kept);
}

/** The kept versions of these apps, by app, oldest first. */
export async function findVersions(
  pool: pg.Pool,
  clientIds: readonly string[],
): Promise<ReadonlyMap<string, ProfileVersion[]>> {
  const rows = await select<Stored<ProfileVersion> & { clientId: string }>(pool)`
      SELECT client_id AS "clientId", version, since, profile FROM app_profile
      WHERE client_id = ANY(${[...new Set(clientIds)]}::text[]) ORDER BY version`;
  return Map.groupBy(rows.map(withTexts), ({ clientId }) => clientId);
}

/** An app with the profile that a person saw. */
export interface AppAsShown extends ShownApp {
  readonly clientId: string;
  readonly ownerId: string;
  /** Not shown. */
  readonly updatedAt: undefined;
}

/** The app `a` as an AppAsShown, from the profile in a column. */
export const asShown = (shownApp: Sql) =>
  sql`${shownApp} || jsonb_build_object('clientId', a.client_id, 'ownerId', a.owner_id)`;

/** A change that an app made to its profile. */
export interface AppChange {
  readonly field: ProfileField;
  readonly from: string;
  readonly to: string;
  readonly at: Date;
}

/** The last change of each field, so their number is limited however often an app changes. */
export function toLatestChanges(changes: readonly AppChange[]): AppChange[] {
  return changes.filter(
    ({ field }, index) => changes.findLastIndex((change) => change.field === field) === index,
  );
}

/** The changes of an app since a version, oldest first. `versions` are in order; changes of missing versions are combined. */
export function listChanges(shown: ShownVersion, versions: readonly ProfileVersion[]): AppChange[] {
  const known = new Map(PROFILE_FIELDS.map((field) => [field, shown[field]]));
  return versions
    .filter(({ version }) => version > shown.version)
    .flatMap((after) =>
      PROFILE_FIELDS.flatMap((field) => {
        const [from, to] = [known.get(field) ?? '', after[field]];
        if (to === from) return [];
        known.set(field, to);
        return [{ field, from, to, at: after.since }];
      }),
    );
}
