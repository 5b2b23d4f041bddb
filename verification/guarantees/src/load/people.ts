import { setTimeout as delay } from 'node:timers/promises';
import { type PartnerApp, registerApp, type Tokens } from '@phds/running-system/partner-app';
import {
  DELETE_OF_THE_GRANT,
  type Held,
  OTHER_WAYS,
  type RevocationWay,
  rotateSecret,
} from '@phds/running-system/revocation-ways';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import type { AccessRestored, Ending, Restorable, TraceEvent } from '../protocol/trace.ts';
import type { PauseGate, Storm } from './pause-gate.ts';
import type { Reads } from './reads.ts';
import { count, HEART, HEART_BY_FHIR, type HeldToken, PROFILE, setStatus, type TokenPool } from './reads.ts';

/** What a revocation ends, in the terms of a trace. None here limits the data to certain days. */
type Kind = Exclude<Ending['kind'], 'days'>;

const KINDS: Readonly<Record<string, Kind>> = {
  'DELETE of the grant': 'grant',
  'DELETE of the grant by its app': 'grant',
  'revoking every grant at once': 'grant',
  'revocation of the access token': 'token',
  'revocation of the refresh token': 'family',
  'narrowing of the grant': 'scope',
  'a new approval that drops a scope': 'scope',
  'replay of the code': 'family',
  'reuse of a refresh token': 'family',
  'suspension of the app': 'app',
  'revocation of the app': 'app-life',
};

/** A revocation way with what it ends. */
interface EndingWay {
  readonly way: RevocationWay;
  readonly kind: Kind;
}

const WAYS: readonly EndingWay[] = [DELETE_OF_THE_GRANT, ...OTHER_WAYS].map((way) => {
  const kind = KINDS[way.name];
  if (kind === undefined) throw new Error(`what does "${way.name}" end?`);
  return { way, kind };
});

/** The way that works in every situation. */
const DELETION: EndingWay = { way: DELETE_OF_THE_GRANT, kind: 'grant' };

/** Ends a single access token. */
const TOKEN_REVOCATION: EndingWay = findWay('revocation of the access token');

/** A random way; with `forGood`, only permanent ones, because an earlier request could still undo the others. */
function pickWay(forGood: boolean): EndingWay {
  const ways = WAYS.filter(({ kind }) => !forGood || (kind !== 'scope' && kind !== 'app'));
  return ways[Math.floor(Math.random() * ways.length)] ?? DELETION;
}

/** Describes an ending for the trace. The epoch is the app's after its revocation. */
function toEnding(kind: Kind, { facts }: HeldToken, tokens: Tokens, epoch: number): Ending {
  const { token, family, user, app } = facts;
  switch (kind) {
    case 'token':
      return { kind, token };
    case 'family':
      return { kind, family };
    case 'grant':
      return { kind, grant: tokens.grantId };
    case 'scope':
      return { kind, user, app, scope: HEART.scope };
    case 'app':
      return { kind, app };
    case 'app-life':
      return { kind, app, epoch };
  }
}

function hold(app: PartnerApp, secret: string, facts: HeldToken['facts']): HeldToken {
  return { secret, facts, state: 'live', etag: null, present: (path) => app.present(secret, path) };
}

function findWay(name: string): EndingWay {
  const found = WAYS.find(({ way }) => way.name === name);
  if (found === undefined) throw new Error(`no way "${name}"`);
  return found;
}

interface SimulatedPersonOptions {
  readonly user: string;
  readonly session: string;
  /** Whether the tokens are bound to a key. */
  readonly bound: boolean;
  /** Base URLs. */
  readonly gateways: readonly string[];
  readonly reads: Reads;
  readonly pool: TokenPool;
  readonly gate: PauseGate;
}

const SCOPES = [HEART.scope, PROFILE.scope];
const ATTEMPTS = 3;
const PAUSE_MS = 250;
// The app repeats its own requests for a while, as the SDK does for partners.
const RETRY_BUDGET_MS = 5_000;
const LIVE_MS = 900;
const OVER_MS = 400;

/** A person with an app, who repeatedly connects it, reads, and revokes the access in different ways. */
export class SimulatedPerson {
  /** Observations during the current fault. */
  trace: TraceEvent[] = [];
  /** Endings and restorations, which stay valid over all faults. */
  readonly lasting: TraceEvent[] = [];
  /** Every app that the person has had. */
  readonly apps = new Set<string>();
  /** Whether an unanswered approval may still take effect. While it may, reversible endings prove nothing. */
  uncertain = false;
  /** A set of tokens to revoke at once instead of the next round. */
  storm: Storm | null = null;
  /** Reported when a person does not finish. */
  doing = 'nothing';
  readonly #options: SimulatedPersonOptions;
  #app: PartnerApp | null = null;
  #epoch = 0;
  #families = 0;

  constructor(options: SimulatedPersonOptions) {
    this.#options = options;
  }

  /** Repeats rounds for ever. */
  async run(): Promise<never> {
    const { gate, reads } = this.#options;
    for (;;) {
      await gate.pass(this);
      try {
        await this.#round();
      } catch {
        // The fault made a request fail. Its effect is unknown, so the next round starts again.
        reads.tally.setbacks += 1;
        await delay(PAUSE_MS);
      }
      this.doing = 'nothing';
    }
  }

  async #round(): Promise<void> {
    const { storm } = this;
    this.doing = 'connecting';
    const [token, tokens] = await this.#connect();
    if (storm !== null) return this.#stormAll(storm, token, tokens);
    await this.#live(token);
    const { way, kind } = await this.#end(token, tokens, pickWay(this.uncertain));
    await this.#readEverywhere(token);
    await delay(Math.random() * OVER_MS);
    await this.#afterwards(way.name, kind, token);
  }

  async #connect(): Promise<[HeldToken, Held]> {
    const { session, user, gateways } = this.#options;
    if (this.#app === null) {
      const app = await registerApp(this.#gateway(), session, {}, gateways[0]);
      this.#app = this.#options.bound ? app.boundTo(await createProofKey()) : app;
      this.#epoch = 0;
      this.uncertain = false;
      this.apps.add(this.#app.clientId);
    }
    const app = this.#app.at(this.#gateway());
    const epoch = this.#epoch;
    const scope: Restorable = { kind: 'scope', user, app: app.clientId, scope: HEART.scope };
    const client = app.client({ retryBudgetMs: RETRY_BUDGET_MS });
    const ask = () => app.ask(session, { scopes: SCOPES }, {}, client);
    const approved = await this.#restoring(scope, ask).catch((error) => {
      // The app's state is unknown; a new app replaces it.
      this.#app = null;
      throw error;
    });
    const tokens = await app.finish(approved, client);
    this.#families += 1;
    const facts = {
      token: `${user}-${this.#families}`,
      family: `${user}-${this.#families}`,
      grant: tokens.grantId,
      user,
      app: app.clientId,
      epoch,
      expiresAt: null,
    };
    const token = hold(app, tokens.accessToken, facts);
    return [token, { ...tokens, code: approved.code, codeVerifier: approved.kept.codeVerifier }];
  }

  /** Records that an access may come back. Without a response that tells when it no longer can, this holds for ever. */
  async #restoring<T>(restores: Restorable, act: () => Promise<T>): Promise<T> {
    const event: { -readonly [key in keyof AccessRestored]: AccessRestored[key] } = {
      kind: 'restored',
      at: Date.now(),
      answeredAt: null,
      restores,
    };
    this.lasting.push(event);
    const wasUncertain = this.uncertain;
    this.uncertain = true;
    const result = await act();
    event.answeredAt = Date.now();
    this.uncertain = wasUncertain;
    return result;
  }

  async #live(token: HeldToken): Promise<void> {
    this.doing = 'reading';
    this.#options.pool.addLive(token);
    await this.#readEverywhere(token);
    await delay(Math.random() * LIVE_MS);
  }

  /** Repeats the ending until it is acknowledged; deletes the grant if the chosen way fails. */
  async #end(token: HeldToken, tokens: Held, chosen: EndingWay): Promise<EndingWay> {
    token.state = 'ending';
    const app = this.#app as PartnerApp;
    const { session, pool, reads } = this.#options;
    if (chosen.kind === 'app-life') this.#epoch += 1;
    let ending = chosen;
    let askedAt = Date.now();
    for (let attempt = 1; ; attempt += 1) {
      this.doing = `${ending.way.name}, attempt ${attempt}`;
      try {
        await ending.way.end({ app, session }, tokens, this.#gateway());
        break;
      } catch {
        await delay(PAUSE_MS);
        if (attempt === ATTEMPTS && ending !== DELETION) {
          // The state of an app after an incomplete change is unknown.
          if (ending.kind === 'app' || ending.kind === 'app-life') this.#app = null;
          ending = DELETION;
          askedAt = Date.now();
        }
      }
    }
    const ended = toEnding(ending.kind, token, tokens, this.#epoch);
    this.lasting.push({ kind: 'acknowledged', at: Date.now(), askedAt, ended });
    count(reads.tally.endings, ending.way.name);
    token.state = ending.kind === 'scope' ? 'narrowed' : 'dead';
    pool.end(token);
    return ending;
  }

  /** Undoes what prevents the next connection. */
  async #afterwards(name: string, kind: EndingWay['kind'], token: HeldToken): Promise<void> {
    this.doing = `after ${name}`;
    if (kind === 'scope' || kind === 'app') {
      token.state = 'void';
      this.#options.pool.remove(token);
    }
    const app = this.#app;
    if (app === null || (kind !== 'app' && kind !== 'app-life')) return;
    // If the restoration does not succeed at the first attempt, the app with its unknown state is not used any more.
    this.#app = null;
    const { session } = this.#options;
    const activate = () => setStatus(this.#gateway(), app, session, 'active');
    await this.#restoring({ kind: 'app', app: app.clientId }, activate);
    if (kind === 'app-life') app.clientSecret = await rotateSecret({ app, session }, this.#gateway());
    this.#app = app;
  }

  /** Reads at every gateway at once, in turns through both interfaces: the first reads of a token that was just issued or just ended. */
  async #readEverywhere(token: HeldToken): Promise<void> {
    const { reads } = this.#options;
    const gateways = Array.from({ length: reads.gateways }, (_, gateway) => gateway);
    await Promise.all(
      gateways.map((gateway) => {
        const reading = (gateway + this.trace.length) % 2 === 0 ? HEART : HEART_BY_FHIR;
        return reads.read(token, reading, { gateway, first: true, trace: this.trace });
      }),
    );
  }

  /** Collects access tokens of one family, waits for everybody, and revokes each token. */
  async #stormAll(storm: Storm, first: HeldToken, tokens: Held): Promise<void> {
    const held = [first, ...(await this.#collect(storm.tokens - 1, first, tokens.refreshToken))];
    // Cleared only now, so that an interrupted collection is repeated in the next round.
    this.storm = null;
    await storm.everybody();
    const worker = async () => {
      for (let token = held.pop(); token !== undefined; token = held.pop()) {
        await this.#end(token, { ...tokens, accessToken: token.secret }, TOKEN_REVOCATION);
      }
    };
    await Promise.all(Array.from({ length: storm.parallel }, worker));
    storm.leave();
  }

  /** Collects as many tokens as possible. Each is read with once, so that a gateway caches it. */
  async #collect(tokens: number, first: HeldToken, refreshToken: string): Promise<HeldToken[]> {
    const { reads } = this.#options;
    const held: HeldToken[] = [];
    for (let next = refreshToken; held.length < tokens; ) {
      this.doing = `collecting tokens: ${held.length}`;
      const { body } = await (this.#app as PartnerApp).at(this.#gateway()).refresh(next);
      if (body?.refresh_token === undefined) break;
      next = body.refresh_token;
      const facts = { ...first.facts, token: `${first.facts.token}-${held.length + 1}` };
      const token = hold(this.#app as PartnerApp, body.access_token, facts);
      await reads.read(token, HEART, { gateway: held.length % reads.gateways, trace: this.trace });
      held.push(token);
    }
    return held;
  }

  #gateway(): string {
    const { gateways } = this.#options;
    return gateways[Math.floor(Math.random() * gateways.length)] as string;
  }
}
