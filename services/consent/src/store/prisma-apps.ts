import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { AppStore } from '../app/ports.ts';
import type { AppStanding, ReportedApp } from '../domain/app.ts';
import { takeProfile } from './app-profiles.ts';
import type { Prisma, PrismaClient } from './generated/client.ts';
import { wanting } from './webhook-event-rows.ts';

/** The apps in table `app`. Each change of status is one conditional statement. */
export function createPrismaApps(prisma: PrismaClient): AppStore {
  return translatingErrors({
    put: (app) => prisma.$transaction((tx) => put(tx, app)),
    // If the ledger is behind `known`, even the same status is set: a lost status in between may have been different.
    async setStatus({ clientId, status, expectedRevision, known }) {
      const [changed] = await prisma.$queryRaw<AppStanding[]>`
        WITH changed AS (
          UPDATE app SET status = ${status}, revision = greatest(revision, ${known.revision}::int) + 1,
            status_changed_at = CASE WHEN status = ${status} THEN status_changed_at ELSE statement_timestamp() END,
            epoch = greatest(epoch, ${known.epoch}::int) + CASE WHEN ${status} = 'revoked' THEN 1 ELSE 0 END
          WHERE client_id = ${clientId}
            AND (status <> ${status} OR revision < ${known.revision}::int OR epoch < ${known.epoch}::int)
            AND (${expectedRevision}::int IS NULL OR revision = ${expectedRevision}::int)
          RETURNING *
        ), begun AS (
          INSERT INTO app_epoch (client_id, epoch, started_at)
          SELECT client_id, number, statement_timestamp() FROM changed, generate_series(2, epoch) AS number
          ON CONFLICT DO NOTHING
        ), told AS (
          INSERT INTO webhook_fanout (client_id, ended_at)
          SELECT changed.client_id, statement_timestamp() FROM changed JOIN webhook_endpoint w USING (client_id)
          WHERE changed.status = 'revoked' AND ${wanting('grant.revoked')}
          ON CONFLICT DO NOTHING
        )
        SELECT status, epoch, revision, status_changed_at AS "statusChangedAt" FROM changed`;
      // A separate statement, which sees the commit of a concurrent call that this one may have waited for.
      return changed ?? (await findStanding(prisma, clientId));
    },
  });
}

async function put(tx: Prisma.TransactionClient, app: ReportedApp): Promise<AppStanding> {
  const { clientId, ownerId, name, description, developerName, homepageUrl, privacyPolicyUrl, logoUrl } = app;
  await tx.$executeRaw`
    INSERT INTO app (client_id, owner_id, name, description, developer_name, homepage_url, privacy_policy_url, logo_url)
    VALUES (${clientId}, ${ownerId}, ${name}, ${description}, ${developerName}, ${homepageUrl}, ${privacyPolicyUrl}, ${logoUrl})
    ON CONFLICT (client_id) DO NOTHING`;
  const [standing] = await tx.$queryRaw<AppStanding[]>`
    SELECT status, epoch, revision, status_changed_at AS "statusChangedAt" FROM app
    WHERE client_id = ${clientId} FOR NO KEY UPDATE`;
  if (standing === undefined) throw new Error(`app ${clientId} is gone although it was just put`);
  await takeProfile(tx, app);
  return standing;
}

async function findStanding(prisma: PrismaClient, clientId: string): Promise<AppStanding | null> {
  const [standing] = await prisma.$queryRaw<AppStanding[]>`
    SELECT status, epoch, revision, status_changed_at AS "statusChangedAt" FROM app WHERE client_id = ${clientId}`;
  return standing ?? null;
}
