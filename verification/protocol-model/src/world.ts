import { Random } from './random.ts';

/**
 * Work of one actor as a generator. Each `yield` is an await: whatever else may run runs there, and a crash of the actor
 * ends the work there. Yielding a reply waits for it.
 */
export type Steps<T> = Generator<Reply | undefined, T, void>;

/** Not known what became of a call, as after a time-out or a broken connection. */
export class Unavailable extends Error {}

// One object for each text: nobody reads their stacks, and to make these took a quarter of the time.
const failures = new Map<string, Unavailable>();
const refusals = new Map<string, Refused>();

/** To be thrown. */
export function unavailable(text: string): Unavailable {
  const failure = failures.get(text) ?? new Unavailable(text);
  failures.set(text, failure);
  return failure;
}

/** To be thrown. */
export function refused(reason: string): Refused {
  const refusal = refusals.get(reason) ?? new Refused(reason);
  refusals.set(reason, refusal);
  return refusal;
}

/** A definite no. */
export class Refused extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

type Outcome = { readonly value: unknown } | { readonly error: Unavailable | Refused };

/** The answer to a call; the first one counts. */
class Reply {
  outcome: Outcome | null = null;
  waiting: Running | null = null;
}

interface Running {
  readonly actor: string;
  readonly steps: Steps<unknown>;
  readonly reply: Reply | null;
  begun: boolean;
  dead: boolean;
}

/** How a clock of an actor goes: milliseconds ahead, and how fast; 0 stands still. */
export interface ClockFault {
  readonly aheadMs: number;
  readonly rate: number;
}

const RIGHT: ClockFault = { aheadMs: 0, rate: 1 };
const START = 1_800_000_000_000;

/**
 * Virtual time and a scheduler that picks among everything that could go on next, by its seed alone: so messages are late
 * and overtake each other. On top: calls that get lost or doubled, crashes, wrong clocks.
 */
export class World {
  readonly random: Random;
  readonly #clocks: Map<string, ClockFault>;
  /** For people; null while nobody reads it. */
  readonly #timeline: string[] | null;
  readonly #ready: Running[] = [];
  readonly #begun = new Set<Running>();
  #now = START;
  #order = 0;

  constructor(seed: number, clocks: ReadonlyMap<string, ClockFault>, timeline: string[] | null = null) {
    this.random = new Random(seed);
    this.#clocks = new Map(clocks);
    this.#timeline = timeline;
  }

  /** A number larger than every one before: the order of events. */
  tick(): number {
    this.#order += 1;
    return this.#order;
  }

  /** The time by an actor's own clock, in milliseconds. */
  clock(actor: string): number {
    const { aheadMs, rate } = this.#clocks.get(actor) ?? RIGHT;
    return START + (this.#now - START) * rate + aheadMs;
  }

  /** Somebody sets a clock; it goes on as fast as before. */
  setClock(actor: string, aheadMs: number): void {
    this.#clocks.set(actor, { ...(this.#clocks.get(actor) ?? RIGHT), aheadMs });
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  note(tell: () => string): void {
    if (this.#timeline === null) return;
    const seconds = ((this.#now - START) / 1000).toFixed(3);
    this.#timeline.push(`${String(this.#order).padStart(5)} ${seconds.padStart(12)}s  ${tell()}`);
  }

  /** Begins work at some later step. */
  start(actor: string, work: () => Steps<unknown>): void {
    this.#spawn(actor, work, null);
  }

  /** Calls another actor. Throws what it refuses, and `Unavailable` when no answer arrives, whatever was done there. */
  *call<T>(actor: string, work: () => Steps<T>, { mayDouble = true } = {}): Steps<T> {
    const reply = new Reply();
    const fate = this.random.below(100);
    if (fate >= 4) this.#spawn(actor, work, fate >= 8 ? reply : null);
    if (fate < 8) this.#spawn('network', lose, reply);
    if (fate >= 92 && mayDouble) this.#spawn(actor, work, reply);
    yield reply;
    const { outcome } = reply;
    if (outcome === null) throw new Error('woken without an answer');
    if ('error' in outcome) throw outcome.error;
    return outcome.value as T;
  }

  /** Ends all work of an actor where it stands. Who waits for it hears that nothing is known. */
  crash(actor: string): void {
    for (const running of this.#begun) {
      if (running.actor !== actor) continue;
      running.dead = true;
      this.#begun.delete(running);
      this.#settle(running.reply, { error: unavailable(`${actor} crashed`) });
    }
  }

  /** Lets one of the things that could go on go on; false when there is none. */
  step(): boolean {
    const ready = this.#ready;
    const [last] = ready.slice(-1);
    if (last === undefined) return false;
    const index = this.random.below(ready.length);
    const running = ready[index] ?? last;
    ready[index] = last;
    ready.pop();
    this.#now += 1;
    this.#order += 1;
    if (!running.dead) this.#advance(running);
    return true;
  }

  #spawn(actor: string, work: () => Steps<unknown>, reply: Reply | null): void {
    this.#ready.push({ actor, steps: work(), reply, begun: false, dead: false });
  }

  #advance(running: Running): void {
    if (!running.begun) {
      running.begun = true;
      this.#begun.add(running);
    }
    let outcome: Outcome;
    try {
      const { done, value } = running.steps.next();
      if (done !== true) {
        if (value instanceof Reply && value.outcome === null) value.waiting = running;
        else this.#ready.push(running);
        return;
      }
      outcome = { value };
    } catch (error) {
      // Anything else is a mistake of the model itself.
      if (!(error instanceof Unavailable || error instanceof Refused)) throw error;
      outcome = { error };
    }
    this.#begun.delete(running);
    this.#settle(running.reply, outcome);
  }

  #settle(reply: Reply | null, outcome: Outcome): void {
    if (reply === null || reply.outcome !== null) return;
    reply.outcome = outcome;
    if (reply.waiting !== null) this.#ready.push(reply.waiting);
  }
}

function* lose(): Steps<never> {
  yield;
  throw unavailable('lost');
}
