import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { ReceiptStore } from '../app/ports.ts';
import type { Grant } from '../domain/grant.ts';
import type { ConsentEvent, Ending, ShownScope } from '../domain/receipt.ts';
import type { ProfileVersion, ShownApp } from '../domain/shown-app.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { GRANT_COLUMNS, GRANT_FROM, type GrantRow, toGrant } from './grant-rows.ts';

/** The content of receipts, from the grant and its history in `consent_event`. */
export function createPrismaReceipts(prisma: PrismaClient): ReceiptStore {
  return translatingErrors({
    async findReceipt(grantId, userId) {
      const [row] = await prisma.$queryRaw<GrantRow[]>`
        SELECT ${Prisma.raw(GRANT_COLUMNS)} FROM ${Prisma.raw(GRANT_FROM)}
        WHERE g.id = ${grantId} AND g.user_id = ${userId}`;
      if (row === undefined) return null;
      const grant = toGrant(row);
      const events = await prisma.consentEvent.findMany({
        where: { grantId },
        orderBy: [{ at: 'asc' }, { kind: 'asc' }],
      });
      return {
        grantId,
        userId,
        clientId: grant.clientId,
        oldestProfile: await getOldestProfile(prisma, grant.clientId),
        ending: toEnding(grant),
        events: events.map(toConsentEvent),
      };
    },
  });
}

/** An end by the person is an event of its own. */
function toEnding({ endedBy, revokedAt, expiresAt }: Grant): Ending | null {
  if (endedBy === null || endedBy === 'person') return null;
  return { by: endedBy, at: revokedAt ?? expiresAt };
}

/** The first version of an app; its current profile if an earlier release registered it since the last upgrade. */
async function getOldestProfile(prisma: PrismaClient, clientId: string): Promise<ProfileVersion> {
  const [oldest] = await prisma.$queryRaw<ProfileVersion[]>`
    SELECT coalesce(o.version, 0) AS version, coalesce(o.since, statement_timestamp()) AS since,
      coalesce(o.name, a.name) AS name, o.description, o.developer_name AS "developerName",
      coalesce(o.homepage_url, a.homepage_url) AS "homepageUrl",
      coalesce(o.privacy_policy_url, a.privacy_policy_url) AS "privacyPolicyUrl", coalesce(o.logo_url, a.logo_url) AS "logoUrl"
    FROM app a LEFT JOIN app_profile o ON o.client_id = a.client_id AND o.version = 1 WHERE a.client_id = ${clientId}`;
  if (oldest === undefined) throw new Error(`the app ${clientId} of a grant is gone`);
  return oldest;
}

type EventRow = Prisma.ConsentEventModel;

function toConsentEvent(row: EventRow): ConsentEvent {
  return {
    kind: row.kind as ConsentEvent['kind'],
    at: row.at,
    pendingId: row.pendingId ?? '',
    purpose: row.purpose,
    language: row.language,
    shown: row.shown as unknown as ShownScope[],
    shownApp: row.shownApp as unknown as ShownApp | null,
    scopes: row.scopes,
    expiresAt: row.expiresAt,
    dataFrom: row.dataFrom === null ? null : row.dataFrom.toISOString().slice(0, 10),
  };
}
