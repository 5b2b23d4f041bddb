import type { AppProfile } from '../domain/app.ts';
import type { ProfileVersion } from '../domain/shown-app.ts';
import type { Prisma, PrismaClient } from './generated/client.ts';

/** Latest versions of an app that are kept, besides the first. */
const KEPT_VERSIONS = 20;

/**
 * Adds the profile to the app's versions unless it is the latest already, and answers its version. The transaction holds a lock on the
 * app's row, so that versions are added one after the other.
 */
export async function keepVersion(tx: Prisma.TransactionClient, app: AppProfile): Promise<number> {
  const { clientId, name, homepageUrl, privacyPolicyUrl, logoUrl } = app;
  const [kept] = await tx.$queryRaw<{ version: number }[]>`
    WITH latest AS (
      SELECT version, (name, homepage_url, privacy_policy_url, logo_url)
        = (${name}, ${homepageUrl}, ${privacyPolicyUrl}, ${logoUrl}) AS same
      FROM app_profile WHERE client_id = ${clientId} ORDER BY version DESC LIMIT 1
    ), added AS (
      INSERT INTO app_profile (client_id, version, since, name, homepage_url, privacy_policy_url, logo_url)
      SELECT ${clientId}, coalesce((SELECT version FROM latest), 0) + 1, statement_timestamp(), ${name}, ${homepageUrl},
        ${privacyPolicyUrl}, ${logoUrl}
      WHERE NOT EXISTS (SELECT FROM latest WHERE same)
      RETURNING version
    ), dropped AS (
      DELETE FROM app_profile
      WHERE client_id = ${clientId} AND version BETWEEN 2 AND (SELECT version - ${KEPT_VERSIONS}::int FROM added)
    )
    SELECT coalesce((SELECT version FROM added), (SELECT version FROM latest)) AS version`;
  if (kept === undefined) throw new Error('an aggregate answers one row');
  return kept.version;
}

/** The versions of these apps that are kept, by app, oldest first. */
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

/**
 * The app as the latest approval of a grant up to a time showed it: an expression that answers JSON. Before the first approval, which only a
 * clock that differs can say, as the first one showed it. For a grant whose approvals did not keep it, the oldest version of the app. null
 * when there is none. The arguments are SQL.
 */
export function shownAppOf(grantId: string, clientId: string, at: string): string {
  return `coalesce(
    (SELECT s.shown_app FROM consent_event s
     WHERE s.grant_id = ${grantId} AND s.at <= ${at} AND s.shown_app IS NOT NULL ORDER BY s.at DESC LIMIT 1),
    (SELECT s.shown_app FROM consent_event s WHERE s.grant_id = ${grantId} AND s.kind = 'granted' ORDER BY s.at LIMIT 1),
    (SELECT jsonb_build_object('version', o.version, 'name', o.name, 'homepageUrl', o.homepage_url,
      'privacyPolicyUrl', o.privacy_policy_url, 'logoUrl', o.logo_url)
     FROM app_profile o WHERE o.client_id = ${clientId} AND o.version = 1))`;
}
