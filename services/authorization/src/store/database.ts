import type { Prisma } from './generated/client.ts';

/** The client of a transaction, or the plain client. */
export type Database = Prisma.TransactionClient;

/** Bytes in the form that Prisma requires: over an ArrayBuffer of their own. */
export function toBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

/** Maximum waiting and running time of a transaction in milliseconds. */
export const TRANSACTION_LIMITS = { maxWait: 5_000, timeout: 10_000 } as const;
