import type { Prisma } from './generated/client.ts';

/** Until the transaction ends the person is not erased; several may hold this. Taken before any row is locked. */
export async function keepPerson(tx: Prisma.TransactionClient, userId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock_shared(hashtextextended('person ' || ${userId}, 0))`;
}

/** Waits for whoever keeps the person, and holds up whoever wants to. */
export async function lockPerson(tx: Prisma.TransactionClient, userId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('person ' || ${userId}, 0))`;
}
