import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { startPeriodic } from '../background.ts';
import { batchingCalls } from '../batcher.ts';
import { currentDeadline, withoutDeadline } from '../current-work.ts';
import { unavailable } from '../errors.ts';
import { givenUp, inTransaction } from '../postgres/postgres.ts';
import { type Queryable, queryRows, type Statement } from '../postgres/sql.ts';
import {
  compareWithMemory,
  type EntryKind,
  type Finding,
  type Memory,
  type Restore,
  RestoreRecords,
} from './records.ts';

/** Thrown by a statement when it is not yet known whether the database lacks acknowledged changes. */
export class Unverified extends Error {
  constructor() {
    super('the database has not been compared with the acknowledged changes');
  }
}

/** The instance's id and position, compared with its row. The id is null while nothing is remembered. */
type RememberedPosition = readonly [id: string | null, position: number];

/** The statement that compares a database with the expected position; prepared statements of the services repeat its condition. */
function toVerification(schema: string): string {
  return `
    SELECT NOT identified OR ($1::uuid IS NOT NULL AND NOT EXISTS (
      SELECT FROM "${schema}".instance WHERE id = $1::uuid AND position >= $2::bigint
    )) AS unverified
    FROM "${schema}".suspension`;
}

/**
 * Runs a statement whose rows say whether the database is unverified. Its last two values are the guard's expected position. Throws
 * Unverified; call it within `guard.verified`.
 */
export async function queryVerified<Row extends object>(
  client: Queryable,
  guard: { readonly remembered: RememberedPosition },
  statement: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  type Verified = Row & { readonly unverified: boolean };
  const rows = await queryRows<Verified>(client, statement, ...values, ...guard.remembered);
  // Also where it is unknown (NULL).
  if (rows.some(({ unverified }) => unverified !== false)) throw new Unverified();
  return rows;
}

/** A connection, or what asks in the transaction of another client. */
interface Queries {
  query(
    text: string,
    values: unknown[],
  ): Promise<{ readonly rows: readonly { readonly unverified?: unknown }[] }>;
}

type Say = (details: object, text: string) => void;

/** Milliseconds between two checks whether the database was restored. */
export const RESTORE_CHECK_INTERVAL_MS = 2_000;

/** Milliseconds in which all instances have to confirm a new database; after it, the database counts as restored. */
export const FAILOVER_GRACE_MS = 15_000;

interface RestoreGuardOptions {
  readonly pool: pg.Pool;
  /** The schema of the restore tables. */
  readonly schema: string;
  /** How often to check the database, and how long other instances have to confirm that a new one has all their changes. */
  readonly config: { readonly RESTORE_CHECK_INTERVAL_MS: number; readonly FAILOVER_GRACE_MS: number };
  readonly log: { readonly error: Say; readonly warn: Say };
  /** Receives the error of a failed check; the next one tries again. */
  readonly onFailure: (error: unknown) => void;
  /**
   * Called when what was written last may be missing: at the first failed check of an outage, at the first successful check after it,
   * and when the database was replaced.
   */
  readonly onPossibleLoss?: () => void;
}

/** Checks the database immediately and then periodically. Starts even if the database is unavailable. */
export async function startRestoreGuard(options: RestoreGuardOptions): Promise<RestoreGuard> {
  const guard = new RestoreGuard(options);
  await guard.check().catch(options.onFailure);
  return guard;
}

const DECISION_POLL_MS = 200;
const TAKEN_OVER = 'a different database took over; no acknowledged change is missing';
const SUSPENDED = 'the database was restored: everything older is suspended until an operator confirms';

/**
 * Detects that the database was restored to a state without some acknowledged changes (docs/design/guarantees.md). After every change and
 * before acknowledging it, each instance increments the position in its own row and remembers it. If the row is behind the
 * remembered position, changes are missing. A different database, such as a promoted standby, is trusted once every instance has
 * found its row complete.
 */
export class RestoreGuard implements AsyncDisposable {
  readonly #options: RestoreGuardOptions;
  readonly #id = randomUUID();
  #memory: Memory | null = null;
  #checking: Promise<void> | null = null;
  /** When a different, not yet decided database was first seen, by the monotonic clock; else null. */
  #undecidedSince: number | null = null;
  #loggedNumber = 0;
  readonly #checkAndReport: () => Promise<void>;
  readonly #checks: AsyncDisposable;
  /** Whether a restore suspends everything older, as of the last check. */
  isSuspending = false;
  /** Callers at the same time share a run, which begins after their changes. */
  readonly #prove = batchingCalls(
    async (callers: readonly undefined[]) => {
      await this.#countUp();
      return callers;
    },
    { maxQueued: Number.POSITIVE_INFINITY, maxCost: Number.POSITIVE_INFINITY },
  );

  constructor(options: RestoreGuardOptions) {
    this.#options = options;
    this.#checkAndReport = reportingOutages(() => this.#check(), options.onPossibleLoss);
    this.#checks = startPeriodic(() => this.check(), {
      intervalMs: options.config.RESTORE_CHECK_INTERVAL_MS,
      onFailure: options.onFailure,
    });
  }

  /** Resolves when the database holds the proof of everything committed before the call. Throws `unavailable`. */
  acknowledge(): Promise<void> {
    return this.#prove(undefined);
  }

  /** Parameters for statements that compare the database with what this instance remembers. */
  get remembered(): RememberedPosition {
    return this.#memory === null ? [null, 0] : [this.#id, this.#memory.position];
  }

  /** Compares the database with the remembered position and records the result. */
  check(): Promise<void> {
    this.#checking ??= withoutDeadline(() => this.#checkAndReport()).finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  /** Checks until it is known whether the database was restored, at most for the grace period or until the caller stops waiting. */
  async untilDecided(): Promise<void> {
    await this.check();
    while (this.#undecidedSince !== null) {
      if (currentDeadline()?.remainingMs() === 0) throw givenUp();
      await delay(DECISION_POLL_MS);
      await this.check();
    }
  }

  /** Runs the operation. If it throws Unverified, checks the database and runs it once more; then throws `unavailable`. */
  async verified<T>(operation: () => Promise<T>): Promise<T> {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof Unverified)) throw error;
    }
    await this.check();
    try {
      return await operation();
    } catch (error) {
      throw error instanceof Unverified ? unavailable(error) : error;
    }
  }

  /** Throws Unverified if the database of this transaction is not verified. For transactions with several statements. */
  async requireVerified(client: Queries): Promise<void> {
    const { rows } = await client.query(toVerification(this.#options.schema), [...this.remembered]);
    if (rows[0]?.unverified !== false) throw new Unverified();
  }

  /** The latest restore; null when there never was one. */
  findLatest(): Promise<Restore | null> {
    return this.#records(this.#options.pool).findRestore();
  }

  /** Suspends everything older; in effect when it resolves. */
  async declare(): Promise<Restore> {
    const restore = await this.#inTransaction(async (records) => {
      await records.lock();
      return records.findRestore(await records.addEntry('declared'));
    });
    if (restore === null) throw new Error('the restore that was just declared is missing');
    return restore;
  }

  /** Confirms that restore and all earlier ones; null if there is none with that number. Idempotent. */
  async confirm(number: number): Promise<Restore | null> {
    const records = this.#records(this.#options.pool);
    await records.confirm(number);
    return records.findRestore(number);
  }

  /** Records that this instance will acknowledge nothing more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#checks[Symbol.asyncDispose]();
    if (this.#memory === null) return;
    await this.#records(this.#options.pool).end(this.#id).catch(this.#options.onFailure);
  }

  async #countUp(): Promise<void> {
    if (await this.#tryCountUp()) return;
    await this.check();
    if (!(await this.#tryCountUp())) throw unavailable(new Unverified());
  }

  /** Returns false if the instance must check the database first: it is not registered, or its row went back. */
  async #tryCountUp(): Promise<boolean> {
    const before = this.#memory;
    if (before === null) return false;
    const position = await this.#records(this.#options.pool).countUp(this.#id);
    if (position === null) return false;
    const isLost = position <= before.position;
    this.#remember(before.number, isLost ? before.position + 1 : position);
    return !isLost;
  }

  /**
   * Remembers the position to which a change has counted this instance up in its own transaction, which is committed: the proof of
   * everything committed before.
   */
  noteProof(position: number): void {
    this.#remember(0, position);
  }

  #remember(number: number, position: number): void {
    const known = this.#memory;
    this.#memory = {
      number: Math.max(number, known?.number ?? 0),
      position: Math.max(position, known?.position ?? 0),
    };
  }

  async #check(): Promise<void> {
    // Read before the facts: otherwise a change acknowledged in between would make the database appear to lack a change.
    const memory = this.#memory;
    const decided = await this.#inTransaction(async (records) => {
      let facts = await records.readFacts(this.#id, memory);
      let finding = compareWithMemory(facts, memory);
      let entry: EntryKind | null = null;
      if (finding !== 'same') {
        await records.lock();
        // Another instance may have written the entry in the meantime.
        facts = await records.readFacts(this.#id, memory);
        finding = compareWithMemory(facts, memory);
        entry = await this.#chooseEntry(records, finding);
      }
      if (finding !== 'same' && entry === null) return null;
      const number = entry === null ? Number(facts.number) : await records.addEntry(entry);
      const position = await records.register(this.#id, memory?.position ?? 0);
      return { number, position, entry };
    });
    if (decided === null) {
      this.#undecidedSince ??= performance.now();
      return;
    }
    this.#undecidedSince = null;
    if (memory !== null && decided.number !== memory.number) this.#options.onPossibleLoss?.();
    this.#remember(decided.number, decided.position);
    if (decided.entry === 'failover') this.#options.log.warn({ number: decided.number }, TAKEN_OVER);
    await this.#logSuspension();
  }

  /** Chooses the entry to write, while holding the lock. Null while other instances may still confirm, or when nothing changed. */
  async #chooseEntry(records: RestoreRecords, finding: Finding): Promise<EntryKind | null> {
    switch (finding) {
      case 'same':
        return null;
      case 'first':
        return 'first';
      case 'lost':
        return 'detected';
      case 'moved':
        if (await records.confirmComplete(this.#id)) return 'failover';
        return this.#isOverdue() ? 'detected' : null;
      case 'unknown':
        return this.#isOverdue() || !(await records.hasOthers(this.#id)) ? 'detected' : null;
    }
  }

  #isOverdue(): boolean {
    const since = this.#undecidedSince;
    return since !== null && performance.now() - since >= this.#options.config.FAILOVER_GRACE_MS;
  }

  async #logSuspension(): Promise<void> {
    const latest = await this.findLatest();
    this.isSuspending = latest !== null && latest.confirmedAt === null;
    if (latest === null || !this.isSuspending || latest.number === this.#loggedNumber) return;
    this.#loggedNumber = latest.number;
    this.#options.log.error({ number: latest.number }, SUSPENDED);
  }

  #records(client: Queryable): RestoreRecords {
    return new RestoreRecords(client, this.#options.schema);
  }

  #inTransaction<T>(use: (records: RestoreRecords) => Promise<T>): Promise<T> {
    return inTransaction(this.#options.pool, (client) => use(this.#records(client)));
  }
}

type Method = (...args: unknown[]) => Promise<unknown>;

/** Wraps use cases so that the named ones return only after the database holds the proof of their changes. */
export function acknowledging<UseCases extends object>(
  guard: Pick<RestoreGuard, 'acknowledge'>,
  useCases: UseCases,
  names: readonly (keyof UseCases)[],
): UseCases {
  const wrapped = names.map((name) => {
    const change = useCases[name] as Method;
    const acknowledged: Method = async (...args) => {
      const result = await change(...args);
      await guard.acknowledge();
      return result;
    };
    return [name, acknowledged] as const;
  });
  return { ...useCases, ...Object.fromEntries(wrapped) };
}

/**
 * Returns the check of a database with reports of both ends of an outage. Failed checks in between are not reported: inserts may succeed
 * meanwhile, for example while the pool is full.
 */
function reportingOutages(check: () => Promise<void>, report: (() => void) | undefined): () => Promise<void> {
  let isOutage = false;
  const note = (isNow: boolean) => {
    if (isNow !== isOutage) report?.();
    isOutage = isNow;
  };
  return async () => {
    try {
      await check();
    } catch (error) {
      note(true);
      throw error;
    }
    note(false);
  };
}
