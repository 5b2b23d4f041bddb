import type { Prisma } from './generated/client.ts';

/** The client of a transaction, or the plain client. */
export type Database = Prisma.TransactionClient;

/** Bytes in the form that Prisma requires: over an ArrayBuffer of their own. */
export function toBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

/** Maximum waiting and running time of a transaction in milliseconds. Concurrent refreshes of one family queue at its row. */
export const TRANSACTION_LIMITS = { maxWait: 5_000, timeout: 10_000 } as const;

/** Server settings of every connection. They suit look-ups by key, which the prepared statements and the ordinary ones are. */
export const POOL_SETTINGS = {
  // Planned once for each connection.
  plan_cache_mode: 'force_generic_plan',
  // A plan made while the tables were empty would read and hash them from end to end for good.
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  // Compiling a plan takes longer than running it.
  jit: 'off',
} as const;
