import { Authorization } from './authorization.ts';
import { emptyTables } from './authorization-tables.ts';
import { Consent, type Eviction } from './consent.ts';
import { ConsentDatabase } from './consent-database.ts';
import { Gateway } from './gateway.ts';
import { HealthData } from './health-data.ts';
import { type Action, APPS, GATEWAYS, type History, SCOPES } from './history.ts';
import { EMPTY_LEDGER, statusOf } from './ledger.ts';
import { type Judgement, judgeTrace } from './oracle.ts';
import { People } from './people.ts';
import type { TraceEvent } from './trace.ts';
import type { VariantName } from './variants.ts';
import { type Steps, World } from './world.ts';

export interface Run extends Judgement {
  readonly trace: readonly TraceEvent[];
}

/** Plays a history through the protocol, or through a broken variant of it, and has the oracle judge what came of it. */
export function simulate(
  history: History,
  variant: VariantName | null = null,
  timeline: string[] | null = null,
): Run {
  const simulation = new Simulation(history, variant, timeline);
  const trace = simulation.play(history);
  return { trace, ...judgeTrace(trace) };
}

class Simulation {
  readonly #world: World;
  readonly #database: ConsentDatabase;
  readonly #consent: Consent;
  readonly #gateways: readonly Gateway[];
  readonly #people: People;
  readonly #ended = new Set<string>();

  constructor({ seed, clocks }: History, variant: VariantName | null, timeline: string[] | null) {
    const world = new World(seed, new Map(Object.entries(clocks)), timeline);
    const standing = { status: 'active', epoch: 1, revision: 0 } as const;
    const apps = new Map(APPS.map((app) => [app, standing]));
    const database = new ConsentDatabase(world, variant, { ...EMPTY_LEDGER, apps });
    const publish = (eviction: Eviction) => this.#publish(eviction);
    const consent = new Consent({ world, database, variant, publish });
    const tables = emptyTables(apps);
    const authorization = new Authorization({ world, consent, tables, variant });
    const healthData = new HealthData({ world, consent, variant });
    this.#world = world;
    this.#database = database;
    this.#consent = consent;
    this.#gateways = GATEWAYS.map((name) => new Gateway({ name, world, authorization, healthData }));
    this.#people = new People({ world, gateways: this.#gateways, authorization, consent });
  }

  /** At the beginning the user has approved the first app; at the end every token is tried once more. */
  play({ steps }: History): TraceEvent[] {
    this.#begin(() => this.#people.approve(APPS[0], SCOPES, SCOPES));
    this.#settle();
    for (const { action, pause } of steps) {
      this.#act(action);
      for (let step = 0; step < pause && this.#step(); step += 1);
    }
    this.#settle();
    for (const held of this.#people.wallet.tokens) {
      for (const gateway of this.#gateways) {
        for (const scope of SCOPES) this.#begin(() => this.#people.requestData(gateway, held, scope));
      }
    }
    this.#settle();
    return [...this.#people.trace, ...this.#findRecords()];
  }

  #settle(): void {
    while (this.#step());
  }

  #step(): boolean {
    const stepped = this.#world.step();
    this.#watchGrants();
    return stepped;
  }

  #begin(work: () => Steps<void>): void {
    this.#world.start('people', work);
  }

  #act(action: Action): void {
    const people = this.#people;
    switch (action.do) {
      case 'wait':
        this.#world.note(() => `time: ${action.ms} ms pass`);
        this.#world.pass(action.ms);
        this.#watchGrants();
        this.#world.start('consent', () => this.#consent.prune());
        break;
      case 'crash':
        this.#crash(action.process);
        break;
      case 'set-clock':
        this.#world.note(() => `${action.process}: clock is set ${action.aheadMs} ms ahead`);
        this.#world.setClock(action.process, action.aheadMs);
        break;
      case 'fail-over':
        this.#world.note(() => 'database: FAILS OVER');
        this.#database.failOver();
        break;
      case 'revoke-all':
        this.#begin(() => people.revokeAll());
        break;
      case 'approve':
        this.#begin(() => people.approve(action.app, action.asked, action.approved));
        break;
      case 'set-status':
        this.#begin(() => people.setStatuses(action.app, action.statuses));
        break;
      default:
        this.#actOn(action);
    }
  }

  /** Acts on something that people hold by now; nothing when they hold nothing of the kind. */
  #actOn(action: Extract<Action, { which: number }>): void {
    const people = this.#people;
    const { wallet } = people;
    const begin = <Thing>(things: readonly Thing[], work: (thing: Thing) => Steps<void>) => {
      const thing = things.at(-1 - (action.which % Math.max(things.length, 1)));
      if (thing !== undefined) this.#begin(() => work(thing));
    };
    switch (action.do) {
      case 'request': {
        const gateway = this.#gateways[action.gateway];
        if (gateway === undefined) break;
        begin(wallet.tokens, (held) => people.requestData(gateway, held, action.scope));
        break;
      }
      case 'narrow':
        begin(wallet.grants, (grant) => people.narrow(grant, [action.keep], SCOPES));
        break;
      case 'shorten':
        begin(wallet.grants, (grant) => people.shorten(grant, action.lifeMs));
        break;
      case 'revoke-grant':
        begin(wallet.grants, (grant) => people.revokeGrant(grant));
        break;
      case 'revoke-token':
        begin(wallet.tokens, (held) => people.revokeToken(held));
        break;
      case 'revoke-family':
        begin(wallet.families, (family) => people.revokeFamily(family));
        break;
      case 'refresh':
        begin(wallet.families, (family) => people.refresh(family));
        break;
      case 'reuse':
        begin(wallet.families, (family) => people.reuse(family));
        break;
      case 'replay':
        begin(wallet.families, (family) => people.replay(family));
        break;
    }
  }

  #crash(process: string): void {
    this.#world.note(() => `${process}: CRASHES and starts again`);
    this.#world.crash(process);
    this.#gateways.find(({ name }) => name === process)?.forgetAll();
  }

  /** Best effort: lost, doubled, late. */
  #publish(eviction: Eviction): void {
    for (const gateway of this.#gateways) {
      const copies = [0, 0, 0, 1, 1, 2][this.#world.random.below(6)] ?? 0;
      for (let copy = 0; copy < copies; copy += 1) {
        this.#world.start(gateway.name, () => evict(gateway, eviction));
      }
    }
  }

  /** Whoever looked at this moment would have seen these grants over. */
  #watchGrants(): void {
    const { state } = this.#database;
    const now = this.#database.now();
    for (const grant of state.grants.values()) {
      if (this.#ended.has(grant.id) || statusOf(state, grant, now) === 'active') continue;
      this.#ended.add(grant.id);
      this.#people.trace.push({ kind: 'grant-ended', at: this.#world.tick(), grant: grant.id });
      this.#world.note(() => `database: ${grant.id} is ${statusOf(state, grant, now)}`);
    }
  }

  #findRecords(): TraceEvent[] {
    return [...this.#database.state.records.values()].map(({ access, at, databaseTime, refused }) => {
      const { request, app, grant, scope } = access;
      return { kind: 'recorded', at, request, app, grant, scope, refused, databaseTime };
    });
  }
}

function* evict(gateway: Gateway, eviction: Eviction): Steps<void> {
  yield;
  gateway.evict(eviction);
}
