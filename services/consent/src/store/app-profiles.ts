import type { ReportedApp } from '../domain/app.ts';
import type { ProfileVersion, ShownVersion } from '../domain/shown-app.ts';
import type { Prisma, PrismaClient } from './generated/client.ts';

/** Number of latest versions that are kept, besides the first. */
const KEPT_VERSIONS = 20;

/**
 * Stores the profile reported by authorization unless a newer one is known, because reports may arrive out of order. Returns the
 * current version. The transaction holds a lock on the app's row, so that versions are added in sequence.
 */
export async function takeProfile(tx: Prisma.TransactionClient, app: ReportedApp): Promise<ShownVersion> {
  const { clientId, name, homepageUrl, privacyPolicyUrl, logoUrl, updatedAt } = app;
  // An earlier release registers apps without a version; the existing profile becomes the first one.
  await tx.$executeRaw`
    WITH first AS (
      INSERT INTO app_profile (client_id, version, since, name, homepage_url, privacy_policy_url, logo_url)
      SELECT client_id, 1, statement_timestamp(), name, homepage_url, privacy_policy_url, logo_url FROM app
      WHERE client_id = ${clientId} AND NOT EXISTS (SELECT FROM app_profile WHERE client_id = ${clientId})
    )
    UPDATE app SET name = ${name}, homepage_url = ${homepageUrl}, privacy_policy_url = ${privacyPolicyUrl},
      logo_url = ${logoUrl}, profile_updated_at = greatest(profile_updated_at, ${updatedAt}::timestamptz)
    WHERE client_id = ${clientId} AND (profile_updated_at > ${updatedAt}::timestamptz) IS NOT TRUE
      AND (name, homepage_url, privacy_policy_url, logo_url, profile_updated_at) IS DISTINCT FROM (${name}, ${homepageUrl},
        ${privacyPolicyUrl}, ${logoUrl}, greatest(profile_updated_at, ${updatedAt}::timestamptz))`;
  return keepVersion(tx, clientId);
}

/** Adds the app's profile as a version unless it is already the latest, and returns the latest. */
async function keepVersion(tx: Prisma.TransactionClient, clientId: string): Promise<ShownVersion> {
  const [kept] = await tx.$queryRaw<ShownVersion[]>`
    WITH present AS (
      SELECT name, homepage_url, privacy_policy_url, logo_url FROM app WHERE client_id = ${clientId}
    ), latest AS (
      SELECT p.version, (p.name, p.homepage_url, p.privacy_policy_url, p.logo_url)
        = (a.name, a.homepage_url, a.privacy_policy_url, a.logo_url) AS same
      FROM app_profile p CROSS JOIN present a WHERE p.client_id = ${clientId} ORDER BY p.version DESC LIMIT 1
    ), added AS (
      INSERT INTO app_profile (client_id, version, since, name, homepage_url, privacy_policy_url, logo_url)
      SELECT ${clientId}, coalesce((SELECT version FROM latest), 0) + 1, statement_timestamp(), present.* FROM present
      WHERE NOT EXISTS (SELECT FROM latest WHERE same)
      RETURNING version
    ), dropped AS (
      DELETE FROM app_profile
      WHERE client_id = ${clientId} AND version BETWEEN 2 AND (SELECT version - ${KEPT_VERSIONS}::int FROM added)
    )
    SELECT coalesce((SELECT version FROM added), (SELECT version FROM latest)) AS version, name, homepage_url AS "homepageUrl",
      privacy_policy_url AS "privacyPolicyUrl", logo_url AS "logoUrl"
    FROM present`;
  if (kept === undefined) throw new Error(`app ${clientId} is gone although its row is locked`);
  return kept;
}

/** The kept versions of these apps, by app, oldest first. */
export async function findVersions(
  prisma: PrismaClient,
  clientIds: readonly string[],
): Promise<ReadonlyMap<string, ProfileVersion[]>> {
  const rows = await prisma.appProfileVersion.findMany({
    where: { clientId: { in: [...new Set(clientIds)] } },
    orderBy: { version: 'asc' },
  });
  return Map.groupBy(rows, ({ clientId }) => clientId);
}
