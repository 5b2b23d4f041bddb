import type { Prisma } from './generated/client.ts';

/** Until the transaction ends the person is not erased; several may hold this. Taken before any row is locked. */
export async function keepPerson(tx: Prisma.TransactionClient, userId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock_shared(hashtextextended('person ' || ${userId}, 0))`;
}

/** Locks the grants of a person in the order of their ids, which keeps two transactions that take several of them from a deadlock. */
export async function lockGrants(tx: Prisma.TransactionClient, userId: string): Promise<void> {
  await tx.$executeRaw`SELECT 1 FROM consent_grant WHERE user_id = ${userId} ORDER BY id FOR UPDATE`;
}

/** Waits for whoever keeps the person, and holds up whoever wants to. */
export async function lockPerson(tx: Prisma.TransactionClient, userId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('person ' || ${userId}, 0))`;
}
