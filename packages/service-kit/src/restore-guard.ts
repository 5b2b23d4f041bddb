import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { sharingRuns } from './acknowledged-changes.ts';
import { currentDeadline, withoutDeadline } from './deadline.ts';
import { unavailable } from './errors.ts';
import { startPeriodic } from './periodic.ts';
import { givenUp, inTransaction } from './postgres-client.ts';
import {
  compareWithMemory,
  type EntryKind,
  type Finding,
  type Memory,
  type Restore,
  RestoreRecords,
} from './restore-records.ts';
import { isUnverified, Unverified, type VerificationQuery, type Witness } from './restore-witness.ts';

type Say = (details: object, text: string) => void;

export interface RestoreGuardOptions {
  readonly pool: pg.Pool;
  /** Where the tables of restores are. */
  readonly schema: string;
  /** How often to look at the database, and how long other instances may vouch for one that took another's place. */
  readonly config: { readonly RESTORE_CHECK_INTERVAL_MS: number; readonly FAILOVER_GRACE_MS: number };
  readonly log: { readonly error: Say; readonly warn: Say };
}

/**
 * Notices that the database went back behind something that was acknowledged (docs/decisions/0011). Each instance counts its own row up
 * after every change and before the change is acknowledged, and remembers the number: a database whose row is behind lacks changes. One
 * that took another's place, such as a promoted standby, is believed when every instance found its row as it remembers it.
 */
export interface RestoreGuard extends AsyncDisposable {
  /** For `isUnverified`. */
  readonly witness: Witness;
  /** Resolves when the database holds the proof of everything committed before the call. Throws `unavailable`. */
  acknowledge(): Promise<void>;
  /** Runs the operation, again after a look when it throws Unverified; throws `unavailable` when that does not settle it. */
  verified<T>(operation: () => Promise<T>): Promise<T>;
  /** Throws Unverified when the database that answers this query is not verified: for transactions of several statements. */
  requireVerified(query: VerificationQuery): Promise<void>;
  /** Compares the database with what is remembered, and writes down what follows. */
  look(): Promise<void>;
  /** Looks until it is known whether the database is a restored one, or the caller waits no more; the grace is the longest. */
  settle(): Promise<void>;
  /** The latest restore; null when there never was one. */
  findLatest(): Promise<Restore | null>;
  /** Suspends everything from before; effective when it answers. */
  declare(): Promise<Restore>;
  /** Confirms that restore and all before it; null when there is none of that number. Idempotent. */
  confirm(number: number): Promise<Restore | null>;
}

/** Looks at once, and then now and then. Starts also while the database is away. */
export async function startRestoreGuard(options: RestoreGuardOptions): Promise<RestoreGuard> {
  const guard = new Guard(options);
  const onFailure = (err: unknown) =>
    options.log.warn({ err }, 'looking for a restore of the database failed');
  await guard.look().catch(onFailure);
  const looks = startPeriodic(() => guard.look(), {
    intervalMs: options.config.RESTORE_CHECK_INTERVAL_MS,
    onFailure,
  });
  return Object.assign(guard, {
    async [Symbol.asyncDispose]() {
      await looks[Symbol.asyncDispose]();
      await guard.end().catch(onFailure);
    },
  });
}

const SETTLE_POLL_MS = 200;

class Guard {
  readonly #options: RestoreGuardOptions;
  readonly #id = randomUUID();
  #memory: Memory | null = null;
  #looking: Promise<void> | null = null;
  /** Since when the database is another one that is not settled, by the monotonic clock. */
  #unsettledSince: number | null = null;
  #told = 0;

  readonly acknowledge = sharingRuns(() => this.#countUp());

  constructor(options: RestoreGuardOptions) {
    this.#options = options;
  }

  get witness(): Witness {
    return this.#memory === null ? [null, 0] : [this.#id, this.#memory.position];
  }

  look(): Promise<void> {
    this.#looking ??= withoutDeadline(() => this.#look()).finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async settle(): Promise<void> {
    await this.look();
    while (this.#unsettledSince !== null) {
      if (currentDeadline()?.remainingMs() === 0) throw givenUp();
      await delay(SETTLE_POLL_MS);
      await this.look();
    }
  }

  async verified<T>(operation: () => Promise<T>): Promise<T> {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof Unverified)) throw error;
    }
    await this.look();
    try {
      return await operation();
    } catch (error) {
      throw error instanceof Unverified ? unavailable(error) : error;
    }
  }

  async requireVerified(query: VerificationQuery): Promise<void> {
    const { schema } = this.#options;
    const text = `SELECT ${isUnverified(schema, '$1', '$2')} AS unverified FROM "${schema}".suspension s`;
    const [row] = await query(text, this.witness);
    if (row?.unverified === true) throw new Unverified();
  }

  findLatest(): Promise<Restore | null> {
    return this.#records(this.#options.pool).findRestore();
  }

  async declare(): Promise<Restore> {
    const restore = await this.#inTransaction(async (records) => {
      await records.lock();
      return records.findRestore(await records.addEntry('declared'));
    });
    if (restore === null) throw new Error('a restore that was declared is there');
    return restore;
  }

  async confirm(number: number): Promise<Restore | null> {
    const records = this.#records(this.#options.pool);
    await records.confirm(number);
    return records.findRestore(number);
  }

  /** Says that this instance acknowledges nothing any more. */
  async end(): Promise<void> {
    if (this.#memory !== null) await this.#records(this.#options.pool).end(this.#id);
  }

  async #countUp(): Promise<void> {
    if (await this.#tryCountUp()) return;
    await this.look();
    if (!(await this.#tryCountUp())) throw unavailable(new Unverified());
  }

  /** False when the instance has to look first: it is not registered, or the row went back. */
  async #tryCountUp(): Promise<boolean> {
    const before = this.#memory;
    if (before === null) return false;
    const position = await this.#records(this.#options.pool).countUp(this.#id);
    if (position === null) return false;
    const isLost = position <= before.position;
    this.#remember(before.number, isLost ? before.position + 1 : position);
    return !isLost;
  }

  #remember(number: number, position: number): void {
    const known = this.#memory;
    this.#memory = {
      number: Math.max(number, known?.number ?? 0),
      position: Math.max(position, known?.position ?? 0),
    };
  }

  async #look(): Promise<void> {
    // Before anything is read: what is acknowledged meanwhile must not make the database look behind.
    const memory = this.#memory;
    const settled = await this.#inTransaction(async (records) => {
      let facts = await records.readFacts(this.#id, memory);
      let finding = compareWithMemory(facts, memory);
      let entry: EntryKind | null = null;
      if (finding !== 'same') {
        await records.lock();
        // Another instance may have been faster.
        facts = await records.readFacts(this.#id, memory);
        finding = compareWithMemory(facts, memory);
        entry = await this.#chooseEntry(records, finding);
      }
      if (finding !== 'same' && entry === null) return null;
      const number = entry === null ? Number(facts.number) : await records.addEntry(entry);
      const position = await records.register(this.#id, memory?.position ?? 0);
      return { number, position, entry };
    });
    if (settled === null) {
      this.#unsettledSince ??= performance.now();
      return;
    }
    this.#unsettledSince = null;
    this.#remember(settled.number, settled.position);
    if (settled.entry === 'failover') {
      const text = 'another database took over, and nothing that was acknowledged is missing';
      this.#options.log.warn({ number: settled.number }, text);
    }
    await this.#tell();
  }

  /** What to write down, under the lock; null while others may still vouch, or when there is nothing to say. */
  async #chooseEntry(records: RestoreRecords, finding: Finding): Promise<EntryKind | null> {
    switch (finding) {
      case 'same':
        return null;
      case 'first':
        return 'first';
      case 'lost':
        return 'detected';
      case 'moved':
        if (await records.vouch(this.#id)) return 'failover';
        return this.#isOverdue() ? 'detected' : null;
      case 'unknown':
        return this.#isOverdue() || !(await records.hasOthers(this.#id)) ? 'detected' : null;
    }
  }

  #isOverdue(): boolean {
    const since = this.#unsettledSince;
    return since !== null && performance.now() - since >= this.#options.config.FAILOVER_GRACE_MS;
  }

  async #tell(): Promise<void> {
    const latest = await this.findLatest();
    if (latest === null || latest.confirmedAt !== null || latest.number === this.#told) return;
    this.#told = latest.number;
    const text = 'the database was restored: what is older is suspended until an operator confirms';
    this.#options.log.error({ number: latest.number }, text);
  }

  #records(client: pg.ClientBase | pg.Pool): RestoreRecords {
    return new RestoreRecords(client, this.#options.schema);
  }

  #inTransaction<T>(use: (records: RestoreRecords) => Promise<T>): Promise<T> {
    return inTransaction(this.#options.pool, (client) => use(this.#records(client)));
  }
}
