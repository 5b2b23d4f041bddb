import { FairTurns } from '@phds/service-kit/fair-turns';
import { toHalf } from '@phds/service-kit/postgres/postgres';
import type pg from 'pg';

const turnsOf = new WeakMap<pg.Pool, FairTurns>();

const PATIENT = { perKey: 1, maxWaiting: Number.POSITIVE_INFINITY, maxWaitMs: Number.POSITIVE_INFINITY };

/**
 * Runs a write when it is its turn: one at a time for each user, and at most half of the pool for all. Writes wait without holding
 * a connection, so reads always find one, however many importers there are.
 */
export function inWriteTurn<T>(pool: pg.Pool, userId: string, write: () => Promise<T>): Promise<T> {
  const turns = turnsOf.get(pool) ?? new FairTurns({ ...PATIENT, atOnce: toHalf(pool) });
  turnsOf.set(pool, turns);
  return turns.take(userId, write);
}
