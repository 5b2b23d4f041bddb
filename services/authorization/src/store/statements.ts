import { isScope, type Scope } from '@phds/catalog/scopes';
import { batchingCalls, SHORT_READS } from '@phds/service-kit/batcher';
import { inTransaction, requireTimeLeft } from '@phds/service-kit/postgres/postgres';
import { type Statement, toColumnName } from '@phds/service-kit/postgres/sql';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified, Unverified } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import type { Prisma, PrismaClient } from './generated/client.ts';

type Key = string | Uint8Array;

/**
 * A look-up by key. Callers at the same time share statements, none of which began before they asked. The statement takes an array
 * of different keys and returns the rows that it finds, in any order.
 */
export function createLookUp<K extends Key, Row extends { readonly scopes: readonly Scope[] }>(options: {
  readonly pool: pg.Pool;
  readonly guard: RestoreGuard;
  readonly statement: Statement;
  readonly keyOf: (row: Row) => K;
}): (key: K) => Promise<Row | null> {
  const { pool, guard, statement, keyOf } = options;
  return batchingCalls(async (keys) => {
    const asked = new Map(keys.map((key) => [toText(key), key]));
    const values = [[...asked.values()]];
    const rows = await guard.verified(() => queryVerified<Row>(pool, guard, statement, values));
    const found = new Map(rows.map((row) => [toText(keyOf(row)), withKnownScopes(row)]));
    return keys.map((key) => found.get(toText(key)) ?? null);
  }, SHORT_READS);
}

/** Runs a transaction of which the database was verified first: compared with the changes that were acknowledged. */
export function inVerified<T>(
  prisma: PrismaClient,
  guard: RestoreGuard,
  use: (tx: Prisma.TransactionClient) => Promise<T>,
): Promise<T> {
  return guard.verified(() =>
    prisma.$transaction(async (tx) => {
      const query = async (text: string, values: unknown[]) => ({
        rows: await tx.$queryRawUnsafe<object[]>(text, ...values),
      });
      await guard.requireVerified({ query });
      return use(tx);
    }),
  );
}

/** The row without scopes that the catalog no longer has. */
export function withKnownScopes<Row extends { readonly scopes: readonly string[] }>(row: Row) {
  return { ...row, scopes: row.scopes.filter(isScope) };
}

function toText(key: Key): string {
  return typeof key === 'string' ? key : Buffer.from(key).toString('base64');
}

/**
 * Minimum remaining time of a caller, in milliseconds, when its change is committed. A commit takes a few milliseconds; a quarter of
 * the gateway's 2 s is reserved for a slow disk or standby.
 */
const USE_MARGIN_MS = 500;

/** A group that hangs delays the others for 50 ms, two until one of them ends. The other connections are for look-ups. */
const GROUPS = { perKey: 1, marginMs: USE_MARGIN_MS, slowMs: 50, maxSlow: 2 } as const;

interface Outcome {
  /** False if the row that decides was locked, or is no more. Then nothing was changed. */
  readonly held: boolean;
  readonly changed: boolean;
  /** To which the transaction has counted this instance up; null if it is not registered. */
  readonly position: string | null;
}

/**
 * Changes that are decided by the lock of a row, and proven and committed in groups (docs/design/performance.md). The statement passes over
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

/**
 * An array for `json_to_record`: objects with names in snake_case, and bytes in the form that Postgres reads. Postgres plans for ten
 * elements of an array, but for a hundred rows of `json_to_recordset`, and would read whole indexes of tables that were once small.
 */
export function toJsonRecords(records: readonly object[]): string[] {
  const toField = ([name, value]: [string, unknown]) => [
    toColumnName(name),
    value instanceof Uint8Array ? toHex(value) : value,
  ];
  return records.map((record) => JSON.stringify(Object.fromEntries(Object.entries(record).map(toField))));
}

/** Bytes as a text that Postgres reads. */
export function toHex(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}
