import type { LedgerState } from './ledger.ts';
import type { Change } from './ledger-changes.ts';
import type { VariantName } from './variants.ts';
import { type Steps, unavailable, type World } from './world.ts';

interface Committed {
  readonly commit: number;
  readonly state: LedgerState;
}

/**
 * The database of consent. A statement sees the snapshot of its start. A change holds its locks from what it reads to its
 * commit, so it is one moment here: its commit. Commits are durable in their order, and each connection breaks at a failover:
 * whoever waits for an answer then does not know whether it was committed.
 */
export class ConsentDatabase {
  readonly #world: World;
  readonly #variant: VariantName | null;
  #state: LedgerState;
  #commits = 0;
  /** What a failover keeps. */
  #durable: Committed;
  /** What a follower that is late has got to. */
  #replica: Committed;
  #generation = 0;

  constructor(world: World, variant: VariantName | null, initial: LedgerState) {
    this.#world = world;
    this.#variant = variant;
    this.#state = initial;
    this.#durable = { commit: 0, state: initial };
    this.#replica = this.#durable;
  }

  /** The newest state, for those who watch the simulation. */
  get state(): LedgerState {
    return this.#state;
  }

  now(): number {
    return this.#world.clock('database');
  }

  /** One statement that reads. */
  *read<T>(query: (state: LedgerState, now: number) => T): Steps<T> {
    const generation = this.#generation;
    yield;
    this.#requireConnection(generation);
    const snapshot = this.#state;
    const now = this.now();
    yield;
    this.#requireConnection(generation);
    return query(snapshot, now);
  }

  /** The same on the replica. */
  *readLate<T>(query: (state: LedgerState, now: number) => T): Steps<T> {
    yield;
    const snapshot = this.#replica.state;
    const now = this.now();
    yield;
    return query(snapshot, now);
  }

  /** One transaction that writes. `change` sees what is committed at that moment, as under the locks it takes. */
  *commit<T>(change: Change<T>): Steps<T> {
    const generation = this.#generation;
    yield;
    this.#requireConnection(generation);
    const { state, answer } = change(this.#state, this.now());
    this.#install(state);
    yield;
    this.#requireConnection(generation);
    return answer;
  }

  /** One statement that writes and reads at once: what it reads is older than what it writes. */
  *commitAndRead<T>(change: Change<void>, query: (state: LedgerState, now: number) => T): Steps<T> {
    const generation = this.#generation;
    yield;
    this.#requireConnection(generation);
    const snapshot = this.#state;
    const now = this.now();
    yield;
    this.#requireConnection(generation);
    this.#install(change(this.#state, now).state);
    yield;
    this.#requireConnection(generation);
    return query(snapshot, now);
  }

  /** The primary dies and its standby takes over. */
  failOver(): void {
    this.#generation += 1;
    this.#state = this.#durable.state;
    this.#world.crash('database');
  }

  #install(state: LedgerState): void {
    this.#state = state;
    this.#commits += 1;
    const committed = { commit: this.#commits, state };
    if (this.#variant === 'asynchronous-commit') {
      this.#world.start('database', () => this.#flush(committed, this.#generation));
    } else this.#durable = committed;
    if (this.#variant === 'judged-on-a-replica') {
      this.#world.start('replica', () => this.#replay(committed));
    }
  }

  *#flush(committed: Committed, generation: number): Steps<void> {
    yield* this.#lag();
    if (generation !== this.#generation) return;
    if (committed.commit > this.#durable.commit) this.#durable = committed;
  }

  *#replay(committed: Committed): Steps<void> {
    yield* this.#lag();
    if (committed.commit > this.#replica.commit) this.#replica = committed;
  }

  *#lag(): Steps<void> {
    for (let wait = this.#world.random.below(40); wait > 0; wait -= 1) yield;
  }

  #requireConnection(generation: number): void {
    if (generation !== this.#generation) throw unavailable('connection to the database broke');
  }
}
