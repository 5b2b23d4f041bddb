import type { ReceiptSource } from '../app/ports.ts';
import type { ConsentEvent, ShownScope } from '../domain/receipt.ts';
import { APP_COLUMNS, type AppRow, toAppProfile } from './app-rows.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { GRANT_COLUMNS, GRANT_FROM, type GrantRow, toGrant } from './grant-rows.ts';

/** What receipts tell, from the grant and its history in `consent_event`. */
export function createPrismaReceipts(prisma: PrismaClient): ReceiptSource {
  return {
    async findReceipt(grantId, userId) {
      const [row] = await prisma.$queryRaw<(GrantRow & AppRow)[]>`
        SELECT ${Prisma.raw(GRANT_COLUMNS)}, ${Prisma.raw(APP_COLUMNS)}
        FROM ${Prisma.raw(GRANT_FROM)} WHERE g.id = ${grantId} AND g.user_id = ${userId}`;
      if (row === undefined) return null;
      const grant = toGrant(row);
      const events = await prisma.consentEvent.findMany({
        where: { grantId },
        orderBy: [{ at: 'asc' }, { kind: 'asc' }],
      });
      return {
        grantId,
        userId,
        app: toAppProfile(row),
        status: grant.status,
        expiresAt: grant.expiresAt,
        endedByAppAt: grant.revokedBy === 'app' ? grant.revokedAt : null,
        events: events.map(toConsentEvent),
      };
    },
  };
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
    scopes: row.scopes,
    expiresAt: row.expiresAt,
    dataFrom: row.dataFrom === null ? null : row.dataFrom.toISOString().slice(0, 10),
  };
}
