import { unavailable } from '@phds/service-kit/errors';
import type { AccessStatements } from '../../../../services/consent/src/access/statements.ts';
import type { Link, NetworkFault, Position, Stop } from './history.ts';

/** Disturbs the first batch that reaches one position: it fails, loses its connection or a verdict, or waits until released. */
export class Stopped {
  readonly #stop: Stop;
  readonly #lose: (link: Link) => void;
  readonly #arrived = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  #passed = false;

  constructor(stop: Stop, lose: (link: Link) => void) {
    this.#stop = stop;
    this.#lose = lose;
  }

  /** Resolves when the batch waits. */
  get arrival(): Promise<void> {
    return this.#arrived.promise;
  }

  release(): void {
    this.#released.resolve();
  }

  async pass(position: Position): Promise<void> {
    if (!this.#isAt(position)) return;
    if ('fails' in this.#stop) throw unavailable('the database fails here');
    if ('loses' in this.#stop) return this.#lose(this.#stop.loses);
    this.#arrived.resolve();
    await this.#released.promise;
  }

  /** The verdicts that reach health-data. */
  receive<Verdict>(verdicts: readonly Verdict[]): readonly Verdict[] {
    return this.#isAt('answered') ? verdicts.slice(1) : verdicts;
  }

  /** True only once. */
  #isAt(position: Stop['at']): boolean {
    if (this.#passed || position !== this.#stop.at) return false;
    this.#passed = true;
    return true;
  }
}

/** Reports every position of a batch to `pass`, and to `onInsert` the ids of the records that are sent to the database. */
export function withPositions(
  real: AccessStatements,
  pass: (position: Position) => Promise<void> | undefined,
  onInsert: (ids: readonly Uint8Array[]) => void,
): AccessStatements {
  return {
    findRefs: (grantIds) => real.findRefs(grantIds),
    async insert(batch) {
      await pass('inserting');
      onInsert(batch.accessRecords.filter(({ refersTo }) => refersTo === null).map(({ id }) => id));
      await real.insert(batch);
    },
    async judge(accesses, userRefs) {
      await pass('recorded');
      const judgements = await real.judge(accesses, userRefs);
      await pass('judged');
      return judgements;
    },
  };
}

/** The network between authorization and consent. */
export class Network {
  /** The faults of the next calls, in order. */
  faults: NetworkFault[] = [];

  /** Wraps a port so that its calls can be lost, lose their response, or arrive twice. */
  carry<Port extends object>(port: Port): Port {
    const carried = Object.entries(port).map(([name, method]) => [
      name,
      (...args: unknown[]) => this.#carry(() => method.apply(port, args)),
    ]);
    return Object.fromEntries(carried);
  }

  async #carry<T>(call: () => Promise<T>): Promise<T> {
    const fault = this.faults.shift() ?? 'none';
    if (fault === 'call-lost') throw unavailable('the call was lost');
    const answer = await call();
    if (fault === 'doubled') await call().catch(() => undefined);
    if (fault === 'answer-lost') throw unavailable('the answer was lost');
    return answer;
  }
}
