import type { Queryable } from '../postgres/sql.ts';

/** The kinds of entries in the table of restores. `first` and `failover` suspend nothing. */
export type EntryKind = 'first' | 'failover' | 'detected' | 'declared';

/** A restore of the database, either detected from missing changes or declared by an operator. */
export interface Restore {
  /** Ascending. */
  readonly number: number;
  /** By the database's clock. */
  readonly at: Date;
  readonly kind: 'detected' | 'declared';
  readonly confirmedAt: Date | null;
}

/** What an instance keeps in memory about the database. */
export interface Memory {
  /** The latest entry that the instance trusted. */
  readonly number: number;
  /** Lower bound of the position in its own row. */
  readonly position: number;
}

/** What the database contains. */
export interface Facts {
  /** Number of the latest entry; null before the first. */
  readonly number: number | null;
  /** Whether the database is the one named by the latest entry. */
  readonly identified: boolean;
  /** Position of this instance's row; null when there is none. */
  readonly position: number | null;
  /** Whether a restore was recorded after the remembered entry. */
  readonly superseded: boolean;
}

/** The conclusion of an instance from the facts. */
export type Finding =
  /** The database is new. */
  | 'first'
  /** The database is the trusted one. */
  | 'same'
  /** An acknowledged change is missing. */
  | 'lost'
  /** A different database that has every change acknowledged by this instance. */
  | 'moved'
  /** A different database, and this instance remembers nothing to compare with. */
  | 'unknown';

/** Compares the facts with what was remembered before they were read. */
export function compareWithMemory(facts: Facts, memory: Memory | null): Finding {
  const { number, position, identified } = facts;
  if (number === null) return memory === null ? 'first' : 'lost';
  if (memory !== null && !facts.superseded) {
    if (number < memory.number || position === null || position < memory.position) return 'lost';
  }
  if (identified) return 'same';
  return number === memory?.number ? 'moved' : 'unknown';
}

const IS_RESTORE = "r.kind IN ('detected', 'declared')";

/** Access to the restore tables and views of one schema, in the transaction of a client. */
export class RestoreRecords {
  readonly #client: Queryable;
  readonly #schema: string;

  constructor(client: Queryable, schema: string) {
    this.#client = client;
    this.#schema = schema;
  }

  /** Prevents other instances from writing an entry until the transaction ends. */
  async lock(): Promise<void> {
    await this.#run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', `restores of ${this.#schema}`);
  }

  async readFacts(id: string, memory: Memory | null): Promise<Facts> {
    const facts = await this.#run<Omit<Facts, 'position'> & { position: string | null }>(
      `SELECT last.number, coalesce(last.identity = present.identity, false) AS identified, i.position,
         EXISTS (SELECT FROM ${this.#table('restore')} r WHERE r.number > $2 AND ${IS_RESTORE}) AS superseded
       FROM ${this.#table('present_database')} present
       LEFT JOIN (SELECT number, identity FROM ${this.#table('restore')} ORDER BY number DESC LIMIT 1) last ON true
       LEFT JOIN ${this.#table('instance')} i ON i.id = $1`,
      id,
      memory?.number ?? 0,
    );
    if (facts === undefined) throw new Error('the database identity is missing');
    return { ...facts, position: facts.position === null ? null : Number(facts.position) };
  }

  async addEntry(kind: EntryKind): Promise<number> {
    const entry = await this.#run<{ number: number }>(
      `INSERT INTO ${this.#table('restore')} (number, kind, identity)
       SELECT coalesce(max(number), 0) + 1, $1, (SELECT identity FROM ${this.#table('present_database')})
       FROM ${this.#table('restore')} RETURNING number`,
      kind,
    );
    if (entry === undefined) throw new Error('the insert returned no row');
    return entry.number;
  }

  /**
   * Registers the instance, creating its row if missing, and returns its position. Marks other instances that were silent for a
   * minute as ended; they must register again before they acknowledge anything. Their changes were committed before this
   * transaction, so incrementing our own position proves them too. Rows of silent instances are kept for a year: an instance that
   * was cut off from the database would take a missing row for a lost change.
   */
  async register(id: string, atLeast: number): Promise<number> {
    const ended = await this.#run(
      `WITH ended AS (
         UPDATE ${this.#table('instance')} SET ended = true
         WHERE id <> $1 AND NOT ended AND seen_at < statement_timestamp() - interval '1 minute' RETURNING 1
       ) SELECT 1 AS any FROM ended LIMIT 1`,
      id,
    );
    const row = await this.#run<{ position: string }>(
      `INSERT INTO ${this.#table('instance')} AS i (id, position) VALUES ($1, $2::bigint + $3)
       ON CONFLICT (id) DO UPDATE SET position = greatest(i.position, $2::bigint) + $3, seen_at = statement_timestamp(),
         ended = false, stopped = false, complete_in = NULL
       RETURNING position`,
      id,
      atLeast,
      ended === undefined ? 0 : 1,
    );
    await this.#run(
      `DELETE FROM ${this.#table('instance')}
       WHERE ended AND seen_at < statement_timestamp() - CASE WHEN stopped THEN interval '1 day' ELSE interval '1 year' END`,
    );
    return Number(row?.position);
  }

  /** Records that every change acknowledged by this instance is present. Returns whether all registered instances have done so. */
  async confirmComplete(id: string): Promise<boolean> {
    const identity = `(SELECT identity FROM ${this.#table('present_database')})`;
    await this.#run(`UPDATE ${this.#table('instance')} SET complete_in = ${identity} WHERE id = $1`, id);
    const row = await this.#run<{ all: boolean }>(
      `SELECT bool_and(ended OR complete_in IS NOT DISTINCT FROM ${identity}) AS all FROM ${this.#table('instance')}`,
    );
    return row?.all === true;
  }

  /** Whether another instance could still confirm. */
  async hasOthers(id: string): Promise<boolean> {
    const text = `SELECT 1 AS found FROM ${this.#table('instance')} WHERE id <> $1 AND NOT ended LIMIT 1`;
    return (await this.#run(text, id)) !== undefined;
  }

  /** Increments this instance's position; null if its row is missing or ended. */
  async countUp(id: string): Promise<number | null> {
    const row = await this.#run<{ position: string }>(
      `UPDATE ${this.#table('instance')} SET position = position + 1, seen_at = statement_timestamp()
       WHERE id = $1 AND NOT ended RETURNING position`,
      id,
    );
    return row === undefined ? null : Number(row.position);
  }

  async end(id: string): Promise<void> {
    await this.#run(`UPDATE ${this.#table('instance')} SET ended = true, stopped = true WHERE id = $1`, id);
  }

  /** Returns the latest restore, or the one with the given number. */
  async findRestore(number: number | null = null): Promise<Restore | null> {
    const restore = await this.#run<Restore>(
      `SELECT r.number, r.at, r.kind,
         (SELECT min(c.at) FROM ${this.#table('restore_confirmation')} c WHERE c.number >= r.number) AS "confirmedAt"
       FROM ${this.#table('restore')} r
       WHERE ${IS_RESTORE} AND r.number = coalesce($1, r.number) ORDER BY r.number DESC LIMIT 1`,
      number,
    );
    return restore ?? null;
  }

  async confirm(number: number): Promise<void> {
    await this.#run(
      `INSERT INTO ${this.#table('restore_confirmation')} (number)
       SELECT r.number FROM ${this.#table('restore')} r WHERE r.number = $1 AND ${IS_RESTORE} ON CONFLICT DO NOTHING`,
      number,
    );
  }

  #table(name: string): string {
    return `"${this.#schema}".${name}`;
  }

  async #run<Row extends object>(text: string, ...values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.#client.query<Row>(text, [...values])).rows[0];
  }
}
