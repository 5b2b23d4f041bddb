import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { ANSWER_GRACE_MS, DATABASE_CONNECT_TIMEOUT_MS, type PostgresOptions } from './postgres.ts';

type Limits = Pick<PostgresOptions, 'schema' | 'statementTimeoutMs' | 'connectTimeoutMs'>;

/**
 * For `new PrismaClient(…)` over a pool that was opened with the same limits. Disconnecting the client does not close the pool.
 * Look up by `findFirst`: Prisma joins each `findUnique` of a moment into one statement, which ends with the deadline of one caller.
 * Prisma's own limits of a transaction (2 s until it begins, 5 s in all) never end one before those of the pool and its statements do.
 */
export function toPrismaOptions(pool: pg.Pool, limits: Limits) {
  const { schema, statementTimeoutMs, connectTimeoutMs = DATABASE_CONNECT_TIMEOUT_MS } = limits;
  return {
    adapter: new PrismaPg(pool, { schema }),
    transactionOptions: {
      maxWait: connectTimeoutMs + ANSWER_GRACE_MS,
      timeout: statementTimeoutMs + ANSWER_GRACE_MS,
    },
  };
}
