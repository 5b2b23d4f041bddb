import { batchingCalls } from '@phds/service-kit/batcher';
import { inTransaction, requireTimeLeft } from '@phds/service-kit/postgres/client';
import type { Statement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified, Unverified } from '@phds/service-kit/restore/witness';
import type pg from 'pg';
import { toJsonRecords } from './json-records.ts';

/**
 * Minimum remaining time of a caller, in milliseconds, when its change is committed. A commit takes a few milliseconds; a quarter of
 * the gateway's 2 s is reserved for a slow disk or standby.
 */
const USE_MARGIN_MS = 500;

/** A group that hangs delays the others for 50 ms, two until one of them ends. The other connections are for look-ups. */
const GROUPS = { oncePerKey: true, marginMs: USE_MARGIN_MS, slowMs: 50, maxSlow: 2 } as const;

interface Outcome {
  /** False if the row that decides was locked, or is no more. Then nothing was changed. */
  readonly held: boolean;
  readonly changed: boolean;
  /** To which the transaction has counted this instance up; null if it is not registered. */
  readonly position: string | null;
}

/**
 * Changes that are decided by the lock of a row, and proven and committed in groups (docs/decisions/0045). The statement passes over
 * locked rows. A change whose row is locked waits for it alone. Each change returns whether it was made.
 */
export function createGroupedChange<Change extends object>(options: {
  readonly pool: pg.Pool;
  readonly guard: RestoreGuard;
  readonly statement: Statement;
  /** Names the row that decides. */
  readonly keyOf: (change: Change) => string;
  /** What the statement reads of each change besides. */
  readonly constants: Readonly<Record<string, number>>;
}): (change: Change) => Promise<boolean> {
  const { pool, guard, statement, keyOf, constants } = options;
  const waiting = {
    name: `${statement.name}-waiting`,
    text: statement.text.replace('OF held SKIP LOCKED', 'OF held'),
  };

  const run = (using: Statement, changes: readonly Change[], requireTime: () => void) =>
    guard.verified(async () => {
      const values = [toJsonRecords(changes.map((change) => ({ ...change, ...constants })))];
      const outcomes = await inTransaction(pool, async (client) => {
        const rows = await queryVerified<Outcome>(client, guard, using, values);
        if (rows.some(({ changed, position }) => changed && position === null)) throw new Unverified();
        // A retry after a late answer to an exchange is a replay.
        requireTime();
        return rows;
      });
      const [first] = outcomes;
      if (first !== undefined && first.position !== null) guard.noteProof(Number(first.position));
      return outcomes;
    });
  const together = batchingCalls(
    (changes: readonly Change[], requireTime) => run(statement, changes, requireTime),
    { ...GROUPS, keyOf },
  );

  return async (change) => {
    const outcome = await together(change);
    if (outcome.held) return outcome.changed;
    const [alone] = await run(waiting, [change], () => requireTimeLeft(USE_MARGIN_MS));
    return alone?.changed === true;
  };
}
