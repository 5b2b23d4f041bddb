import { setTimeout as delay } from 'node:timers/promises';
import type { Judgement } from '@phds/protocol-model/oracle';
import { signIn } from '@phds/running-system/people';
import { boundFetch } from './bounded-fetch.ts';
import { HEART, type HeldToken, isOver, PROFILE } from './held-token.ts';
import { judgeLanes } from './judge.ts';
import { Lane } from './lane.ts';
import { PATIENCE_MS, Reads } from './reads.ts';
import { Storm } from './storm.ts';
import { accuse, newTally, type Tally } from './tally.ts';
import { TokenPool } from './token-pool.ts';
import { END_LIMIT_MS, Turnstile } from './turnstile.ts';
import { openWire, type WireAnswer } from './wire.ts';

export interface LoadOptions {
  readonly gateways: readonly string[];
  readonly identityProviderUrl: string;
  /** Connection string that may read consent's records. */
  readonly recordsUrl: string;
  /** They have one heart rate each. */
  readonly users: readonly string[];
  /** Steady readers at each gateway. */
  readonly readers: number;
}

/** One fault, as the load saw it. */
export interface LoadReport {
  readonly tally: Tally;
  /** The oracle's judgement of the trace, all lanes together. */
  readonly oracle: Omit<Judgement, 'violations'>;
}

const STORM_PARALLEL = 8;
const IDLE_MS = 30;
/** An app whose token is over does not notice at once: so many requests of it arrive together, and may share one look-up. */
const HERD = 8;

/** The steady load: lanes that connect and end, readers that read with whatever is live and mostly with what is over. */
export class Load {
  readonly #options: LoadOptions;
  readonly #turnstile = new Turnstile();
  /** Of the readers alone. */
  readonly #readingRoom = new Turnstile();
  readonly #pool = new TokenPool();
  readonly #reads: Reads;
  readonly #lanes: Lane[] = [];
  readonly #readers: object[] = [];
  #since = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    const wires = options.gateways.map((url) => openWire(url, PATIENCE_MS));
    this.#reads = new Reads(wires, newTally());
    boundFetch(PATIENCE_MS, (late, milliseconds) => {
      const { tally } = this.#reads;
      tally.slowestMs = Math.max(tally.slowestMs, milliseconds);
      if (late !== null) accuse(tally, 'hang', late);
    });
  }

  /** Signs everybody in; nobody does anything before the first `begin`. */
  async prepare(): Promise<void> {
    const { users, gateways, readers } = this.#options;
    for (const user of users) {
      const session = await signIn(this.#options, user);
      const shared = { gateways, reads: this.#reads, pool: this.#pool, turnstile: this.#turnstile };
      const lane = new Lane({ user, session, ...shared });
      this.#lanes.push(lane);
      void lane.run();
    }
    for (let reader = 0; reader < readers * gateways.length; reader += 1) {
      void this.#readForEver(reader % gateways.length);
    }
  }

  get tally(): Tally {
    return this.#reads.tally;
  }

  /** Counts from nothing and lets everybody go. */
  begin(): void {
    this.#reads.tally = newTally();
    this.#since = Date.now();
    for (const lane of this.#lanes) lane.trace = [];
    this.#turnstile.open();
    this.#readingRoom.open();
  }

  /** Lets everybody finish and judges what was seen since `begin`. */
  async end(): Promise<LoadReport> {
    this.#turnstile.close();
    await this.#turnstile.untilWaiting([...this.#lanes, ...this.#readers]);
    for (const lane of this.#lanes) {
      if (this.#turnstile.isWaiting(lane)) continue;
      accuse(this.tally, 'no recovery', `${END_LIMIT_MS} ms after the end still at "${lane.doing}"`);
    }
    const { recordsUrl } = this.#options;
    const { violations, ...oracle } = await judgeLanes(this.#lanes, recordsUrl, this.#since);
    for (const { rule, because } of violations) accuse(this.tally, `oracle: ${rule}`, because);
    return { tally: this.tally, oracle };
  }

  /** Collects so many tokens and revokes all of them at once, when everybody is ready. */
  async storm(tokens: number): Promise<void> {
    const storm = new Storm({ tokens, parallel: STORM_PARALLEL, lanes: this.#lanes.length });
    for (const lane of this.#lanes) lane.storm = storm;
    // Collecting is no part of the storm, and takes a minute longer while others read as fast as they can.
    this.#readingRoom.close();
    await storm.collected;
    this.#readingRoom.open();
    await storm.over;
  }

  async #readForEver(gateway: number): Promise<never> {
    const reader = {};
    this.#readers.push(reader);
    for (;;) {
      await this.#turnstile.pass(reader);
      await this.#readingRoom.pass(reader);
      const token = this.#pool.pick();
      const lane = token === null ? undefined : this.#laneOf(token.facts.user);
      const answers =
        token === null || lane === undefined ? [] : await this.#readTogether(token, lane, gateway);
      if (answers.length === 0 || answers.some(({ status }) => status === 0)) await delay(IDLE_MS);
    }
  }

  #readTogether(token: HeldToken, { trace }: Lane, gateway: number): Promise<WireAnswer[]> {
    const reading = isOver(token, PROFILE) && Math.random() < 0.3 ? PROFILE : HEART;
    const herd = isOver(token, reading) ? HERD : 1;
    return Promise.all(
      Array.from({ length: herd }, () => this.#reads.read(token, reading, { gateway, trace })),
    );
  }

  #laneOf(user: string): Lane | undefined {
    return this.#lanes[this.#options.users.indexOf(user)];
  }
}
