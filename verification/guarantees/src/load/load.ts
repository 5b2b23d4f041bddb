import { setTimeout as delay } from 'node:timers/promises';
import { signIn } from '@phds/running-system/people';
import { openClient } from '@phds/test-kit/open-client';
import { type Judgement, judgeTrace } from '../protocol/oracle.ts';
import type { AccessRecorded } from '../protocol/trace.ts';
import { END_LIMIT_MS, PauseGate, Storm } from './pause-gate.ts';
import { SimulatedPerson } from './people.ts';
import {
  ANSWER_LIMIT_MS,
  addViolation,
  HEART,
  HEART_BY_FHIR,
  type HeldToken,
  isOver,
  newTally,
  PROFILE,
  Reads,
  type Tally,
  TokenPool,
} from './reads.ts';
import { boundFetch, openWire, type WireAnswer } from './wire.ts';

export interface LoadOptions {
  readonly gateways: readonly string[];
  readonly identityProviderUrl: string;
  /** Connection string of a role that may read consent's records. */
  readonly recordsUrl: string;
  /** Users with one heart rate each. */
  readonly users: readonly string[];
  /** Number of steady readers at each gateway. */
  readonly readers: number;
}

/** What the load observed during one fault. */
export interface LoadReport {
  readonly tally: Tally;
  /** The oracle's judgement of all traces together. */
  readonly oracle: Omit<Judgement, 'violations'>;
}

const STORM_PARALLEL = 8;
const IDLE_MS = 30;
/** Parallel requests with an ended token. An app does not stop at once, and such requests may share one look-up. */
const HERD = 8;

/** The steady load: people who connect apps and revoke their access, and readers that use live and, mostly, ended tokens. */
export class Load {
  readonly #options: LoadOptions;
  readonly #gate = new PauseGate();
  /** For the readers only. */
  readonly #readersGate = new PauseGate();
  readonly #pool = new TokenPool();
  readonly #reads: Reads;
  readonly #people: SimulatedPerson[] = [];
  readonly #readers: object[] = [];
  #since = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    const wires = options.gateways.map((url) => openWire(url, ANSWER_LIMIT_MS));
    this.#reads = new Reads(wires, newTally());
    boundFetch(ANSWER_LIMIT_MS, (late, milliseconds) => {
      const { tally } = this.#reads;
      tally.slowestMs = Math.max(tally.slowestMs, milliseconds);
      if (late !== null) addViolation(tally, 'hang', late);
    });
  }

  /** Signs everybody in. Nothing else happens before the first `begin`. */
  async prepare(): Promise<void> {
    const { users, gateways, readers } = this.#options;
    for (const [index, user] of users.entries()) {
      const session = await signIn(this.#options, user);
      const shared = { gateways, reads: this.#reads, pool: this.#pool, gate: this.#gate };
      const person = new SimulatedPerson({ user, session, bound: index % 2 === 1, ...shared });
      this.#people.push(person);
      void person.run();
    }
    for (let reader = 0; reader < readers * gateways.length; reader += 1) {
      void this.#readForEver(reader % gateways.length);
    }
  }

  get tally(): Tally {
    return this.#reads.tally;
  }

  /** Resets the counters and starts everybody. */
  begin(): void {
    this.#reads.tally = newTally();
    this.#since = Date.now();
    for (const person of this.#people) person.trace = [];
    this.#gate.open();
    this.#readersGate.open();
  }

  /** Lets everybody finish and judges what was observed since `begin`. */
  async end(): Promise<LoadReport> {
    this.#gate.close();
    await this.#gate.untilWaiting([...this.#people, ...this.#readers]);
    for (const person of this.#people) {
      if (this.#gate.isWaiting(person)) continue;
      addViolation(this.tally, 'no recovery', `${END_LIMIT_MS} ms after the end still at "${person.doing}"`);
    }
    const { recordsUrl } = this.#options;
    const { violations, ...oracle } = await judgePeople(this.#people, recordsUrl, this.#since);
    for (const { rule, because } of violations) addViolation(this.tally, `oracle: ${rule}`, because);
    return { tally: this.tally, oracle };
  }

  /** Collects this many tokens, and revokes them all at once when every person is ready. */
  async storm(tokens: number): Promise<void> {
    const storm = new Storm({ tokens, parallel: STORM_PARALLEL, people: this.#people.length });
    for (const person of this.#people) person.storm = storm;
    // Collecting is not part of the storm, and would take a minute longer with the readers running.
    this.#readersGate.close();
    await storm.collected;
    this.#readersGate.open();
    await storm.over;
  }

  async #readForEver(gateway: number): Promise<never> {
    const reader = {};
    this.#readers.push(reader);
    for (;;) {
      await this.#gate.pass(reader);
      await this.#readersGate.pass(reader);
      const token = this.#pool.pick();
      const person = token === null ? undefined : this.#personOf(token.facts.user);
      const answers =
        token === null || person === undefined ? [] : await this.#readTogether(token, person, gateway);
      if (answers.length === 0 || answers.some(({ status }) => status === 0)) await delay(IDLE_MS);
    }
  }

  #readTogether(token: HeldToken, { trace }: SimulatedPerson, gateway: number): Promise<WireAnswer[]> {
    const ofHeart = Math.random() < 0.5 ? HEART : HEART_BY_FHIR;
    const reading = isOver(token, PROFILE) && Math.random() < 0.3 ? PROFILE : ofHeart;
    const herd = isOver(token, reading) ? HERD : 1;
    return Promise.all(
      Array.from({ length: herd }, () => this.#reads.read(token, reading, { gateway, trace })),
    );
  }

  #personOf(user: string): SimulatedPerson | undefined {
    return this.#people[this.#options.users.indexOf(user)];
  }
}

interface RecordRow {
  readonly request: string;
  readonly app: string;
  readonly grant: string;
  readonly scope: string;
  readonly recorded: Date;
  readonly refused: boolean;
}

const RECORDS = `
  SELECT r.request_id AS request, r.client_id AS app, r.grant_id AS "grant", r.scope, b.recorded_at AS recorded,
    r.id IN (SELECT refers_to FROM access_record WHERE refers_to IS NOT NULL) AS refused
  FROM access_record r JOIN access_batch b ON b.writer = r.writer AND b.seq = r.seq AND b.at = r.at
  WHERE b.recorded_at >= $1 AND r.refers_to IS NULL`;

/** Judges each person's trace together with the access records of that time. */
async function judgePeople(
  people: readonly SimulatedPerson[],
  recordsUrl: string,
  since: number,
): Promise<Judgement> {
  const rows = await readRecords(recordsUrl, since);
  const byApp = Map.groupBy(rows, ({ app }) => app);
  const sum = {
    violations: [] as Judgement['violations'][number][],
    requests: 0,
    released: 0,
    startedAfterRevocation: 0,
  };
  for (const person of people) {
    const records = [...person.apps].flatMap((app) => byApp.get(app) ?? []);
    const judgement = judgePerson(person, records);
    sum.violations.push(...judgement.violations);
    sum.requests += judgement.requests;
    sum.released += judgement.released;
    sum.startedAfterRevocation += judgement.startedAfterRevocation;
  }
  return sum;
}

function judgePerson({ trace, lasting }: SimulatedPerson, rows: readonly RecordRow[]): Judgement {
  const asked = new Set(trace.map((event) => (event.kind === 'request-started' ? event.request : '')));
  // The records of unanswered requests have ids that the client does not know.
  const recorded = rows.filter(({ request }) => asked.has(request)).map(toEvent);
  return judgeTrace([...lasting, ...trace, ...recorded]);
}

function toEvent({ recorded, ...row }: RecordRow): AccessRecorded {
  // The database rounds to milliseconds and our clock truncates, so the earlier time is used.
  return { kind: 'recorded', ...row, at: recorded.getTime() - 1, databaseTime: recorded.getTime() };
}

async function readRecords(connectionString: string, since: number): Promise<RecordRow[]> {
  await using client = await openClient(connectionString);
  return (await client.query<RecordRow>(RECORDS, [new Date(since - 1_000)])).rows;
}
