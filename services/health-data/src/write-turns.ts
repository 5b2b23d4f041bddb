import { createTurns, type Turns } from '@phds/service-kit/batcher';
import { toHalf } from '@phds/service-kit/postgres/postgres';
import type pg from 'pg';

const turnsOf = new WeakMap<pg.Pool, Turns>();

const PATIENT = { perKey: 1, maxQueued: Number.POSITIVE_INFINITY, maxWaitMs: Number.POSITIVE_INFINITY };

/**
 * Runs a write when it is its turn: one at a time for each user, and at most half of the pool for all. Writes wait without holding
 * a connection, so reads always find one, however many importers there are.
 */
export function inWriteTurn<T>(pool: pg.Pool, userId: string, write: () => Promise<T>): Promise<T> {
  const turns = turnsOf.get(pool) ?? createTurns({ ...PATIENT, atOnce: toHalf(pool) });
  turnsOf.set(pool, turns);
  return turns(userId, write);
}
