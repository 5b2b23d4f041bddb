import { Stopped } from './disturbances.ts';
import { type Action, type ActionOf, APPS, type History, SCOPES, type Step, type Stop } from './history.ts';
import { type Judgement, judgeTrace } from './oracle.ts';
import { People } from './people.ts';
import type { System } from './system.ts';
import type { TraceEvent } from './trace.ts';

/** The implementation of each action. */
type Acts = { readonly [Kind in Action['do']]: (action: ActionOf<Kind>) => Promise<unknown> };

export interface Run extends Judgement {
  readonly trace: readonly TraceEvent[];
}

/** Replays a history on the services, and lets the oracle judge the trace. */
export async function replay(system: System, history: History): Promise<Run> {
  const running = new Replay(system);
  try {
    const trace = await running.play(history);
    return { trace, ...judgeTrace(trace) };
  } finally {
    running.restore();
  }
}

/** A batch that waits at the position where it was stopped. */
interface Waiting {
  readonly stopped: Stopped;
  readonly done: Promise<unknown>;
  /** Number of steps before it continues. */
  steps: number;
}

class Replay {
  readonly #system: System;
  readonly #control: System['control'];
  readonly #people: People;
  readonly #acts: Acts;
  readonly #running: Promise<unknown>[] = [];
  #waiting: Waiting | null = null;

  constructor(system: System) {
    this.#system = system;
    this.#control = system.control;
    this.#people = new People(system);
    this.#acts = this.#createActs(this.#people);
  }

  /** Starts after the person has approved the first app. At the end, every token is used once more. */
  async play(history: History): Promise<TraceEvent[]> {
    const { user, asking, requests } = this.#people;
    await this.#people.registerApps();
    await this.#people.approve({ app: APPS[0], asked: SCOPES, approved: SCOPES, dataFrom: '' });
    for (const step of history) await this.#take(step);
    await this.#settle();
    this.#control.network.faults = [];
    await requests.requestAll(null);
    return [...asking.trace, ...(await requests.readRecords(user))];
  }

  /** Restores the original state of the services. */
  restore(): void {
    this.#waiting?.stopped.release();
    this.#control.stopped = null;
    this.#control.clock.aheadMs = 0;
    this.#control.network.faults = [];
  }

  #createActs(people: People): Acts {
    const { tokens, requests } = people;
    return {
      request: (action) => requests.request(action, null),
      'request-all': () => requests.requestAll(null),
      approve: (action) => people.approve(action),
      narrow: (action) => people.narrow(action),
      'revoke-grant': (action) => people.revokeGrant(action),
      'end-grant': (action) => tokens.endGrant(action),
      'revoke-token': (action) => tokens.revokeToken(action),
      'revoke-family': (action) => tokens.revokeFamily(action),
      'revoke-all': () => people.revokeAll(),
      refresh: (action) => tokens.refresh(action),
      reuse: (action) => tokens.reuse(action),
      replay: (action) => tokens.replay(action),
      'set-status': (action) => people.setStatuses(action),
      'set-clock': async ({ aheadMs }) => {
        this.#control.clock.aheadMs = aheadMs;
      },
      wait: (action) => people.wait(action),
    };
  }

  async #take({ action, overlaps = false, network = [] }: Step): Promise<void> {
    // Time and clocks affect everything that is running.
    const isForAll = action.do === 'wait' || action.do === 'set-clock';
    if (isForAll || this.#waiting?.steps === 0) await this.#settle();
    else if (!overlaps) await this.#finish();
    if (this.#waiting !== null) this.#waiting.steps -= 1;
    this.#control.network.faults = [...network];
    const stop = 'stop' in action && this.#waiting === null ? action.stop : null;
    if ('stop' in action && stop !== null) return this.#requestAndStop(action, stop);
    const act = this.#acts[action.do] as (action: Action) => Promise<unknown>;
    this.#start(act(action));
    if (isForAll) await this.#finish();
  }

  async #requestAndStop(action: ActionOf<'request' | 'request-all'>, stop: Stop): Promise<void> {
    const stopped = new Stopped(stop, (link) => this.#system.stoppedPath.lose(link));
    this.#control.stopped = stopped;
    const { requests } = this.#people;
    const requested =
      action.do === 'request' ? requests.request(action, stopped) : requests.requestAll(stopped);
    const done = requested.finally(() => {
      this.#control.stopped = null;
    });
    const arrived = stopped.arrival.then(() => true);
    const isWaiting = await Promise.race([
      arrived,
      done.then(
        () => false,
        () => false,
      ),
    ]);
    if (isWaiting && 'steps' in stop) this.#waiting = { stopped, done, steps: stop.steps };
    else this.#start(done);
  }

  #start(done: Promise<unknown>): void {
    // Awaited later; until then a rejection must not count as unhandled.
    done.catch(() => undefined);
    this.#running.push(done);
  }

  async #finish(): Promise<void> {
    await Promise.all(this.#running.splice(0));
  }

  /** Also releases a stopped batch. */
  async #settle(): Promise<void> {
    await this.#finish();
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.stopped.release();
    await waiting?.done;
  }
}
