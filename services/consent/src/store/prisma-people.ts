import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { Erasure, PersonStore } from '../app/access-ports.ts';
import type { Prisma, PrismaClient } from './generated/client.ts';
import { lockGrants, lockPerson } from './person-locks.ts';

/** People in table `person`. A row is created with a person's first grant and deleted with the person. */
export function createPrismaPeople(prisma: PrismaClient): PersonStore {
  return translatingErrors({ erase: (userId) => prisma.$transaction((tx) => erase(tx, userId)) });
}

/** The judgement of an access needs the grant, so from the commit on every access to the person's data is refused. */
async function erase(tx: Prisma.TransactionClient, userId: string): Promise<Erasure> {
  await lockPerson(tx, userId);
  await lockGrants(tx, userId);
  const grants = await tx.$queryRaw<
    { id: string }[]
  >`DELETE FROM consent_grant WHERE user_id = ${userId} RETURNING id`;
  const pendingApprovals = await tx.$executeRaw`DELETE FROM pending_approval WHERE claimed_by = ${userId}`;
  await tx.$executeRaw`DELETE FROM notice WHERE user_id = ${userId}`;
  await tx.$executeRaw`DELETE FROM person WHERE user_id = ${userId}`;
  await tx.$executeRaw`UPDATE app_report SET user_id = NULL, text = '' WHERE user_id = ${userId}`;
  await tx.$executeRaw`UPDATE app SET owner_id = '' WHERE owner_id = ${userId}`;
  return { grantIds: grants.map((grant) => grant.id), pendingApprovals };
}
