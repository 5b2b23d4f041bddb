import type { Prisma } from './generated/client.ts';

/** The client of a transaction, or the one outside of any. */
export type Database = Prisma.TransactionClient;

/** Bytes as Prisma takes them: over an ArrayBuffer of their own kind. */
export function toBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

/** Waiting and running time of a transaction: a burst of refreshes of one family queues at its row. Milliseconds. */
export const TRANSACTION_LIMITS = { maxWait: 5_000, timeout: 10_000 } as const;
