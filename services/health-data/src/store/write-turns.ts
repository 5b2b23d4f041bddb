import type pg from 'pg';
import { UserTurns } from './user-turns.ts';

const turnsOf = new WeakMap<pg.Pool, UserTurns>();

/**
 * Runs a write when it is its turn: one at a time for a user, and never more than half of the pool for all of them. Writes
 * wait here and not with a connection in their hands, so however many importers there are, reads find one.
 */
export function inWriteTurn<T>(pool: pg.Pool, userId: string, write: () => Promise<T>): Promise<T> {
  const half = Math.max(1, Math.floor(pool.options.max / 2));
  const turns = turnsOf.get(pool) ?? new UserTurns(half);
  turnsOf.set(pool, turns);
  return turns.take(userId, write);
}
