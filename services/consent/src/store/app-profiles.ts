import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { ReportedApp } from '../domain/app.ts';
import type { ProfileVersion, ShownVersion } from '../domain/shown-app.ts';

/** Number of latest versions that are kept, besides the first. */
const KEPT_VERSIONS = 20;

/** The columns of a profile, in `app` and in `app_profile`. */
const COLUMNS = sql`name, description, developer_name, homepage_url, privacy_policy_url`;
const SHOWN_COLUMNS = sql`name, description, developer_name AS "developerName", homepage_url AS "homepageUrl",
  privacy_policy_url AS "privacyPolicyUrl"`;

/**
 * Stores the profile reported by authorization unless a newer one is known, because reports may arrive out of order. Returns the
 * current version. The transaction holds a lock on the app's row, so that versions are added in sequence.
 */
export async function takeProfile(tx: pg.ClientBase, app: ReportedApp): Promise<ShownVersion> {
  const { clientId, name, description, developerName, homepageUrl, privacyPolicyUrl } = app;
  const columns = sql`${COLUMNS}, profile_updated_at`;
  const reported = sql`${name}, ${description}, ${developerName}, ${homepageUrl}, ${privacyPolicyUrl},
    ${app.updatedAt}::timestamptz`;
  await execute(tx)`
    UPDATE app SET (${columns}) = ROW(${reported})
    WHERE client_id = ${clientId} AND profile_updated_at <= ${app.updatedAt}::timestamptz
      AND (${columns}) IS DISTINCT FROM (${reported})`;
  return keepVersion(tx, clientId);
}

/** Adds the app's profile as a version unless it is already the latest, and returns the latest. */
async function keepVersion(tx: pg.ClientBase, clientId: string): Promise<ShownVersion> {
  const [kept] = await select<ShownVersion>(tx)`
    WITH present AS (
      SELECT ${COLUMNS} FROM app WHERE client_id = ${clientId}
    ), latest AS (
      SELECT version, ${COLUMNS} FROM app_profile WHERE client_id = ${clientId} ORDER BY version DESC LIMIT 1
    ), added AS (
      INSERT INTO app_profile (client_id, version, since, ${COLUMNS})
      SELECT ${clientId}, coalesce((SELECT version FROM latest), 0) + 1, statement_timestamp(), changed.*
      FROM (SELECT ${COLUMNS} FROM present EXCEPT SELECT ${COLUMNS} FROM latest) changed
      RETURNING version
    ), dropped AS (
      DELETE FROM app_profile
      WHERE client_id = ${clientId} AND version BETWEEN 2 AND (SELECT version - ${KEPT_VERSIONS}::int FROM added)
    )
    SELECT coalesce((SELECT version FROM added), (SELECT version FROM latest)) AS version, ${SHOWN_COLUMNS}
    FROM present`;
  if (kept === undefined) throw new Error(`app ${clientId} is gone although its row is locked`);
  return kept;
}

/** The kept versions of these apps, by app, oldest first. */
export async function findVersions(
  pool: pg.Pool,
  clientIds: readonly string[],
): Promise<ReadonlyMap<string, ProfileVersion[]>> {
  const rows = await select<ProfileVersion & { clientId: string }>(pool)`
      SELECT client_id AS "clientId", version, since, ${SHOWN_COLUMNS} FROM app_profile
      WHERE client_id = ANY(${[...new Set(clientIds)]}::text[]) ORDER BY version`;
  return Map.groupBy(rows, ({ clientId }) => clientId);
}
