import type { Listed, Page } from '@phds/catalog/pagination';
import type { AppGrantFilter } from '../app/ports.ts';
import type { Grant } from '../domain/grant.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { countGrants, newestFirst } from './grant-pages.ts';
import { GRANT_COLUMNS, GRANT_FROM, GRANT_STATUS, type GrantRow, toGrant } from './grant-rows.ts';
import { findSubHash } from './subs.ts';

/** The grants of an app, newest first. Index: consent_grant_client_id_granted_at_id_idx. */
export async function listGrantsOfApp(
  prisma: PrismaClient,
  clientId: string,
  filter: AppGrantFilter<Grant>,
  page: Page,
): Promise<Listed<Grant>> {
  const [rows, total] = await Promise.all([
    prisma.$queryRaw<GrantRow[]>(selectGrantsOfApp(clientId, filter, page)),
    countGrants(prisma, toCondition(clientId, filter)),
  ]);
  return { items: rows.map(toGrant), total };
}

export function selectGrantsOfApp(clientId: string, filter: AppGrantFilter<Grant>, page: Page): Prisma.Sql {
  return Prisma.sql`SELECT ${Prisma.raw(GRANT_COLUMNS)} FROM ${Prisma.raw(GRANT_FROM)}
    WHERE ${toCondition(clientId, filter)} ${newestFirst(page)}`;
}

export async function findGrantOfApp(
  prisma: PrismaClient,
  id: string,
  clientId: string,
): Promise<Grant | null> {
  const [row] = await prisma.$queryRaw<GrantRow[]>`
    SELECT ${Prisma.raw(GRANT_COLUMNS)} FROM ${Prisma.raw(GRANT_FROM)}
    WHERE g.id = ${id} AND g.client_id = ${clientId}`;
  return row === undefined ? null : toGrant(row);
}

function toCondition(clientId: string, { status, sub, before }: AppGrantFilter<Grant>): Prisma.Sql {
  const conditions = [Prisma.sql`g.client_id = ${clientId}`];
  if (status !== null) conditions.push(Prisma.sql`${Prisma.raw(GRANT_STATUS)} = ${status}`);
  // Index: consent_grant_sub_idx. Compared with NULL, a text that is no `sub` finds nothing.
  if (sub !== null)
    conditions.push(Prisma.sql`sub_hash(g.user_ref, g.client_id) = ${findSubHash(sub)}::bytea`);
  if (before !== null)
    conditions.push(Prisma.sql`(g.granted_at, g.id) < (${before.grantedAt}, ${before.id})`);
  return Prisma.join(conditions, ' AND ');
}
