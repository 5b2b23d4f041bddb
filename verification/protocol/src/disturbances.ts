import { unavailable } from '@phds/service-kit/errors';
import type { AccessRecordStore } from '../../../services/consent/src/app/access-ports.ts';
import type { NetworkFault, Position, Stop } from './history.ts';

/** Stops one request at one position, where it fails or waits until released. */
export class Stopped {
  readonly #stop: Stop;
  readonly #arrived = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  #passed = false;

  constructor(stop: Stop) {
    this.#stop = stop;
  }

  /** Resolves when the request waits. */
  get arrival(): Promise<void> {
    return this.#arrived.promise;
  }

  release(): void {
    this.#released.resolve();
  }

  async pass(position: Position): Promise<void> {
    if (this.#passed || position !== this.#stop.at) return;
    this.#passed = true;
    if ('fails' in this.#stop) throw unavailable('the database fails here');
    this.#arrived.resolve();
    await this.#released.promise;
  }
}

/** Reports every position of an access to `pass`, and the time at which the insert of each record is sent to the database. */
export function withPositions(
  real: AccessRecordStore,
  pass: (position: Position) => Promise<void> | undefined,
  onInsert: (requestIds: readonly string[]) => void,
): AccessRecordStore {
  return {
    findRefs: (grantIds) => real.findRefs(grantIds),
    async insert(batch) {
      await pass('inserting');
      onInsert(
        batch.accessRecords.filter(({ refersTo }) => refersTo === null).map(({ requestId }) => requestId),
      );
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
