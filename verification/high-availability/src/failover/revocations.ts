import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '@phds/running-system/request';
import { type Access, type Consents, type ReadResult, readAt } from './access.ts';

export interface RevocationOptions {
  readonly consents: Consents;
  readonly gateways: readonly string[];
  /** Accesses that are kept; all others are revoked. */
  readonly kept: number;
  /** Called once, when this share of the revocations is acknowledged. The revocations continue while it runs. */
  readonly midway: { readonly share: number; readonly run: () => Promise<void> };
  readonly signal: AbortSignal;
}

/** What happened to the revocations and to the reads beside them. */
export interface RevocationOutcome {
  readonly acknowledged: number;
  /** The revocations that were acknowledged before `midway` ran. */
  readonly before: number;
  /** Requests for a revocation that failed and were repeated. */
  readonly repeated: number;
  /** Reads by their status. */
  readonly reads: Readonly<Record<string, number>>;
  /** Reads that started after the acknowledgement of their revocation and were answered without data. */
  readonly refusedAfter: number;
  /** Reads that started after the acknowledgement of their revocation and returned data. */
  readonly staleReads: number;
  /** Reads of a consent whose revocation nobody had requested, refused as if it were revoked. */
  readonly wronglyRefused: number;
  /** The longest time between two acknowledgements, and between two released reads of kept accesses. Milliseconds. */
  readonly longestWithoutRevocation: number;
  readonly longestWithoutRead: number;
}

const REVOKERS = 4;
const READERS = 4;
/** Pause of each revoker after a revocation: longer while `midway` runs, so that it falls in the middle of the revocations. */
const REVOCATION_MS = 40;
const MIDWAY_REVOCATION_MS = 400;
const READ_MS = 20;
const REPEAT_MS = 200;

/** Revokes all accesses but the kept ones while readers read at every gateway, and repeats until each is acknowledged. */
export async function revokeUnderReads(options: RevocationOptions): Promise<RevocationOutcome> {
  const run = new RevocationRun(options);
  return run.play();
}

class RevocationRun {
  readonly #options: RevocationOptions;
  readonly #kept: readonly Access[];
  readonly #leaving: readonly Access[];
  readonly #reads: Record<string, number> = {};
  readonly #acknowledgements: number[] = [];
  readonly #released: number[] = [];
  #before = 0;
  #repeated = 0;
  #refusedAfter = 0;
  #staleReads = 0;
  #wronglyRefused = 0;
  #midway: Promise<void> | null = null;
  #isMidway = false;
  #isOver = false;

  constructor(options: RevocationOptions) {
    this.#options = options;
    this.#kept = options.consents.accesses.slice(0, options.kept);
    this.#leaving = options.consents.accesses.slice(options.kept);
  }

  async play(): Promise<RevocationOutcome> {
    const waiting = this.#leaving.values();
    const readers = Array.from({ length: READERS }, (_, index) => this.#readAgainAndAgain(index));
    try {
      await Promise.all(Array.from({ length: REVOKERS }, (_, index) => this.#revokeAll(waiting, index)));
      await this.#midway;
    } finally {
      this.#isOver = true;
      await Promise.all(readers);
    }
    return {
      acknowledged: this.#acknowledgements.length,
      before: this.#before,
      repeated: this.#repeated,
      reads: this.#reads,
      refusedAfter: this.#refusedAfter,
      staleReads: this.#staleReads,
      wronglyRefused: this.#wronglyRefused,
      longestWithoutRevocation: longestGap(this.#acknowledgements),
      longestWithoutRead: longestGap(this.#released),
    };
  }

  async #revokeAll(waiting: Iterable<Access>, index: number): Promise<void> {
    let turn = index;
    for (const access of waiting) {
      while (!(await this.#revoke(access, this.#gateway(turn)))) {
        this.#options.signal.throwIfAborted();
        this.#repeated += 1;
        turn += 1;
        await sleep(REPEAT_MS);
      }
      // The first reads after the acknowledgement, at every gateway.
      await Promise.all(this.#options.gateways.map((gateway) => this.#read(access, gateway)));
      this.#startMidway();
      turn += 1;
      await sleep(this.#isMidway ? MIDWAY_REVOCATION_MS : REVOCATION_MS);
    }
  }

  async #revoke(access: Access, gateway: string): Promise<boolean> {
    access.askedAt ??= performance.now();
    const url = `${gateway}/partner/consent/grants/${access.tokens.grantId}`;
    const answer = await send(url, { method: 'DELETE', bearer: access.session }).catch(() => null);
    if (answer?.status !== 200) return false;
    access.acknowledgedAt = performance.now();
    this.#acknowledgements.push(access.acknowledgedAt);
    return true;
  }

  #startMidway(): void {
    const { share, run } = this.#options.midway;
    if (this.#midway !== null || this.#acknowledgements.length < share * this.#leaving.length) return;
    this.#before = this.#acknowledgements.length;
    this.#isMidway = true;
    this.#midway = run().finally(() => {
      this.#isMidway = false;
    });
    // Awaited when all revocations are acknowledged.
    this.#midway.catch(() => undefined);
  }

  /** Reads a kept access and one that is being revoked, in turn. */
  async #readAgainAndAgain(index: number): Promise<void> {
    for (let turn = index; !this.#isOver; turn += 1) {
      const accesses = turn % 2 === 0 ? this.#kept : this.#leaving;
      const access = accesses[Math.floor(Math.random() * accesses.length)] as Access;
      const result = await this.#read(access, this.#gateway(turn >> 1));
      if (result === 200 && accesses === this.#kept) this.#released.push(performance.now());
      await sleep(READ_MS);
    }
  }

  async #read(access: Access, gateway: string): Promise<ReadResult> {
    const wasAcknowledged = access.acknowledgedAt !== null;
    const result = await readAt(this.#options.consents.app, access, gateway);
    this.#reads[result] = (this.#reads[result] ?? 0) + 1;
    if (wasAcknowledged && result === 200) this.#staleReads += 1;
    else if (wasAcknowledged && result !== 'none') this.#refusedAfter += 1;
    if (access.askedAt === null && (result === 401 || result === 403)) this.#wronglyRefused += 1;
    return result;
  }

  #gateway(turn: number): string {
    const { gateways } = this.#options;
    return gateways[turn % gateways.length] as string;
  }
}

/** The longest time between two of these instants, which are in no particular order. */
function longestGap(instants: readonly number[]): number {
  const sorted = instants.toSorted((a, b) => a - b);
  const gaps = sorted.slice(1).map((instant, index) => instant - (sorted[index] as number));
  return gaps.reduce((longest, gap) => Math.max(longest, gap), 0);
}
