import { timestampMs } from '@bufbuild/protobuf/wkt';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError, type Reason } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { sha256 } from '@phds/service-kit/secrets';
import type { Stopped } from './disturbances.ts';
import { type ActionOf, SCOPES, type Scope } from './history.ts';
import type { DataPath, System } from './system.ts';
import type { AccessFacts, AccessRecorded, Ending, Restorable, TraceEvent } from './trace.ts';

/** The outcome of a call: a result, or the reason of a refusal. `unavailable`: no attempt got a definite response. */
type Outcome<T> =
  | { readonly answer: T; readonly reason: null }
  | { readonly answer: null; readonly reason: Reason };

const ATTEMPTS = 3;

// No history causes these refusals, so they show a mistake of the replay or of a service.
const UNEXPECTED: readonly Reason[] = ['internal', 'caller_not_admitted', 'rate_limited'];

/** Calls the services, repeats calls without a definite response, and adds the events that the oracle needs to the trace. */
export class Asking {
  readonly trace: TraceEvent[] = [];
  readonly #tick: () => number;

  constructor(tick: () => number) {
    this.#tick = tick;
  }

  async insist<T>(ask: () => Promise<T>): Promise<Outcome<T>> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return { answer: await ask(), reason: null };
      } catch (error) {
        if (!(error instanceof AppError) || UNEXPECTED.includes(error.reason)) throw error;
        const { reason } = error;
        if (reason !== 'unavailable' || attempt === ATTEMPTS) return { answer: null, reason };
      }
    }
  }

  /** Requests an ending. It is acknowledged by a successful response or by the expected refusal. */
  async end<T>(
    endings: readonly Ending[],
    ask: () => Promise<T>,
    acknowledgement: Reason | null = null,
  ): Promise<Outcome<T>> {
    const askedAt = this.note(endings);
    const outcome = await this.insist(ask);
    if (outcome.reason === acknowledgement) {
      const at = this.#tick();
      for (const ended of endings) this.trace.push({ kind: 'acknowledged', at, askedAt, ended });
    }
    return outcome;
  }

  /** Records that something may end from now on; returns that time. */
  note(endings: readonly Ending[]): number {
    const at = this.#tick();
    for (const ended of endings) this.trace.push({ kind: 'asked', at, ended });
    return at;
  }

  /** Requests something that may restore an access. */
  async restore<T>(restores: readonly Restorable[], ask: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const at = this.#tick();
    const outcome = await ask();
    const answeredAt = outcome.reason === 'unavailable' ? null : this.#tick();
    for (const one of restores) this.trace.push({ kind: 'restored', at, answeredAt, restores: one });
    return outcome;
  }
}

/** The expiry of a token is judged by the whole second. */
const SECOND_MS = 1_000;

/** Refusals by health-data that state that something has ended the access. */
const ENDED: readonly Reason[] = ['unauthorized', 'token_expired', 'consent_required'];
/** Those that state something else. No history causes any further ones. */
const NOT_ENDED: readonly Reason[] = [
  'assertion_stale',
  'insufficient_scope',
  'access_not_recorded',
  'unavailable',
];

/** How long an assertion is used; health-data accepts it for 60 seconds. */
const ASSERTION_USE_MS = 30_000;

const RECORDS = `
  SELECT encode(uuid_send(r.id), 'hex') AS id, r.request_id AS request, r.client_id AS app, r.grant_id AS "grant", r.scope, b.recorded_at AS recorded,
    EXISTS (SELECT FROM access_record later WHERE later.refers_to = r.id) AS refused
  FROM access_record r JOIN access_batch b ON b.writer = r.writer AND b.seq = r.seq AND b.at = r.at
  WHERE r.user_ref = (SELECT user_ref FROM person WHERE user_id = $1) AND r.refers_to IS NULL`;

interface RecordRow extends Pick<AccessRecorded, 'request' | 'app' | 'grant' | 'scope' | 'refused'> {
  readonly id: string;
  readonly recorded: Date;
}

/** Requests for data, as the gateway makes them to authorization and health-data. */
export class Requests {
  readonly #system: System;
  readonly #trace: TraceEvent[];
  readonly #wallet: Wallet;
  /** How much time has passed artificially, and since when. */
  readonly #elapsed = [{ since: 0, ms: 0 }];
  readonly #assertions = new Map<string, { readonly jwt: Promise<string>; readonly signedAt: number }>();

  constructor(system: System, trace: TraceEvent[], wallet: Wallet) {
    this.#system = system;
    this.#trace = trace;
    this.#wallet = wallet;
  }

  /** Converts a time of the database to milliseconds that include the time passed artificially. */
  toLasting(ms: number): number {
    const last = this.#elapsed.findLast(({ since }) => since <= ms);
    return ms + (last?.ms ?? 0);
  }

  passTime(ms: number): void {
    this.#elapsed.push({ since: Date.now(), ms: (this.#elapsed.at(-1)?.ms ?? 0) + ms });
    for (const { remembered } of this.#wallet.tokens) if (remembered !== null) remembered.expiresAt -= ms;
  }

  async request({ which, scope, remembered }: ActionOf<'request'>, stopped: Stopped | null): Promise<void> {
    const held = pick(this.#wallet.tokens, which);
    if (held === undefined) return;
    const request = this.#start(held, scope);
    const principal = (remembered ? held.remembered : null) ?? (await this.introspect(held));
    if (typeof principal === 'string') return this.#refuse(request, held, principal === 'dead', principal);
    await this.#readAll([{ request, held, principal, scope }], stopped);
  }

  /** Every token with every scope in one batch, with cached facts. */
  async requestAll(stopped: Stopped | null): Promise<void> {
    const reads = this.#wallet.tokens.flatMap((held) => {
      const { remembered: principal } = held;
      if (principal === null) return [];
      return SCOPES.map((scope) => ({ request: this.#start(held, scope), held, principal, scope }));
    });
    await this.#readAll(reads, stopped);
  }

  /** The facts of a live token, or the reason why there are none. */
  async introspect({ hash }: HeldToken): Promise<Principal | 'dead' | 'unknown'> {
    const { status, principal } = await this.#system.tokens.introspect({ tokenHash: hash });
    if (status === TokenStatus.DEAD) return 'dead';
    if (status !== TokenStatus.LIVE || principal?.expiresAt === undefined) return 'unknown';
    const { clientId, userId, grantId, familyId, scopes, grant } = principal;
    const expiresAt = timestampMs(principal.expiresAt);
    return { clientId, userId, grantId, familyId, scopes, dataFrom: grant?.dataFrom ?? '', expiresAt };
  }

  /** The records of this person in the database. */
  async readRecords(userId: string): Promise<AccessRecorded[]> {
    const { databases, insertedAt } = this.#system.control;
    const { rows } = await databases.consent.query<RecordRow>(RECORDS, [userId]);
    return rows.map(({ id, recorded, ...row }) => {
      const at = insertedAt.get(id);
      if (at === undefined) throw new Error(`nobody inserted the record ${id} of ${row.request}`);
      insertedAt.delete(id);
      return { kind: 'recorded', ...row, at, databaseTime: this.toLasting(recorded.getTime()) };
    });
  }

  /** Sends the reads in one turn, so that they leave in one batch. */
  async #readAll(reads: readonly Read[], stopped: Stopped | null): Promise<void> {
    const path = stopped === null ? this.#system.path : this.#system.stoppedPath;
    const assertions = await Promise.all(reads.map((read) => this.#assertionOf(read)));
    await stopped?.pass('admitted');
    await Promise.all(reads.map((read, index) => this.#read(path, read, assertions[index] ?? '')));
  }

  async #read({ readData }: DataPath, read: Read, assertion: string): Promise<void> {
    const { request: requestId, held, principal, scope } = read;
    const request = {
      endpoint: Endpoint.HEALTH_DATA,
      category: scope.slice('read:health-data:'.length),
      requestId,
    };
    try {
      await readData({ request, assertion, clientId: principal.clientId, isWanted: () => true });
      this.#answer(requestId, { data: true, dataFrom: principal.dataFrom });
    } catch (error) {
      if (!(error instanceof AppError) || ![...ENDED, ...NOT_ENDED].includes(error.reason)) throw error;
      this.#refuse(requestId, held, ENDED.includes(error.reason), error.reason);
    }
  }

  /** Like a gateway, uses an assertion several times, and so health-data verifies it only once. */
  #assertionOf({ held, principal }: Read): Promise<string> {
    const { dataFrom, expiresAt, ...facts } = principal;
    const content = {
      ...facts,
      dataFrom: dataFrom === '' ? null : dataFrom,
      tokenHash: Buffer.from(held.hash).toString('base64url'),
      tokenExpiresAt: Math.floor(expiresAt / 1000),
      jkt: null,
      sub: null,
    };
    const key = JSON.stringify(content);
    const known = this.#assertions.get(key);
    const now = this.#system.control.clock.now().getTime();
    if (known !== undefined && known.signedAt <= now && now < known.signedAt + ASSERTION_USE_MS)
      return known.jwt;
    const jwt = this.#system.signAssertion(content);
    this.#assertions.set(key, { jwt, signedAt: now });
    return jwt;
  }

  #start({ facts }: HeldToken, scope: Scope): string {
    const request = newId('req');
    const at = this.#system.control.tick();
    this.#trace.push({ kind: 'request-started', at, request, access: { ...facts, scope } });
    return request;
  }

  /** A refusal states that the access ended, unless the token may have expired or a service has a wrong clock. */
  #refuse(request: string, { facts }: HeldToken, isEnded: boolean, reason: string): void {
    const now = this.toLasting(Date.now());
    const mayBeOver = facts.expiresAt === null || now > facts.expiresAt - SECOND_MS;
    const saysEnded = isEnded && !mayBeOver && this.#system.control.clock.aheadMs === 0;
    this.#answer(request, { reason, saysEnded });
  }

  #answer(
    request: string,
    facts: { data?: boolean; dataFrom?: string; reason?: string; saysEnded?: boolean },
  ) {
    const at = this.#system.control.tick();
    this.#trace.push({ kind: 'answered', at, request, data: false, ...facts });
  }
}

interface Read {
  readonly request: string;
  readonly held: HeldToken;
  readonly principal: Principal;
  readonly scope: Scope;
}

export interface RegisteredApp {
  readonly clientId: string;
  /** Empty while it has none. */
  clientSecret: string;
  /** Number of its requested revocations. */
  epoch: number;
}

interface HeldGrant {
  readonly id: string;
  readonly app: RegisteredApp;
}

/** Everything derived from one exchange of a code. */
interface HeldFamily {
  readonly app: RegisteredApp;
  readonly facts: Omit<AccessFacts, 'scope' | 'token' | 'expiresAt'>;
  readonly code: string;
  /** Oldest first. */
  readonly refreshTokens: string[];
  /** Number of running refreshes. */
  refreshing: number;
}

interface HeldToken {
  readonly app: RegisteredApp;
  readonly facts: Omit<AccessFacts, 'scope'>;
  readonly secret: string;
  readonly hash: Uint8Array;
  /** The first facts that authorization returned for it. */
  remembered: Principal | null;
}

/** The facts of a live token according to authorization. */
interface Principal {
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly familyId: string;
  readonly scopes: readonly string[];
  readonly dataFrom: string;
  /** By the clock of the database, in milliseconds. */
  expiresAt: number;
}

/** Everything that was issued, oldest first; nothing is removed when it ends. */
export class Wallet {
  readonly grants: HeldGrant[] = [];
  readonly families: HeldFamily[] = [];
  readonly tokens: HeldToken[] = [];
}

/** The `which`-th newest, else the oldest, if there is any. */
export function pick<T>(held: readonly T[], which: number): T | undefined {
  return held.at(-1 - which) ?? held[0];
}

export const REDIRECT_URI = 'https://app.test/callback';

type TokenRequest =
  | { readonly grantType: 'authorization_code'; readonly code: string; readonly redirectUri: string }
  | { readonly grantType: 'refresh_token'; readonly refreshToken: string };

/** The apps' actions at the token endpoint. */
export class Tokens {
  readonly #system: System;
  readonly #asking: Asking;
  readonly #wallet: Wallet;
  readonly #requests: Requests;

  constructor(system: System, asking: Asking, wallet: Wallet, requests: Requests) {
    this.#system = system;
    this.#asking = asking;
    this.#wallet = wallet;
    this.#requests = requests;
  }

  async exchange(family: HeldFamily): Promise<void> {
    await this.#issue(family, toExchange(family));
  }

  async refresh({ which }: ActionOf<'refresh'>): Promise<void> {
    const family = pick(this.#wallet.families, which);
    const refreshToken = family?.refreshTokens.at(-1);
    if (family === undefined || refreshToken === undefined) return;
    // Of two concurrent ones, one may count as reuse.
    if (family.refreshing > 0) this.#asking.note([{ kind: 'family', family: family.facts.family }]);
    family.refreshing += 1;
    await this.#issue(family, { grantType: 'refresh_token', refreshToken });
    family.refreshing -= 1;
  }

  /** Presents a refresh token whose successor was used: it is refused, and the family ends. */
  async reuse({ which }: ActionOf<'reuse'>): Promise<void> {
    const family = pick(this.#wallet.families, which);
    const refreshToken = family?.refreshTokens.at(-3);
    if (family === undefined || refreshToken === undefined) return;
    await this.#provoke(family, { grantType: 'refresh_token', refreshToken });
  }

  /** Presents a code that was exchanged: it is refused, and everything derived from it ends. */
  async replay({ which }: ActionOf<'replay'>): Promise<void> {
    const family = pick(this.#wallet.families, which);
    if (family !== undefined) await this.#provoke(family, toExchange(family));
  }

  async revokeToken({ which }: ActionOf<'revoke-token'>): Promise<void> {
    const held = pick(this.#wallet.tokens, which);
    if (held === undefined) return;
    const { app, facts, secret: token } = held;
    await this.#asking.end([{ kind: 'token', token: facts.token }], () =>
      this.#system.tokens.revokeToken({ client: toClient(app), token }),
    );
  }

  async revokeFamily({ which }: ActionOf<'revoke-family'>): Promise<void> {
    const held = pick(this.#wallet.families, which);
    const token = held?.refreshTokens[0];
    if (held === undefined || token === undefined) return;
    const { app, facts } = held;
    await this.#asking.end([{ kind: 'family', family: facts.family }], () =>
      this.#system.tokens.revokeToken({ client: toClient(app), token }),
    );
  }

  /** Ends a grant by its app, with a token of the app itself. */
  async endGrant({ which }: ActionOf<'end-grant'>): Promise<void> {
    const { tokens } = this.#system;
    const grant = pick(this.#wallet.grants, which);
    if (grant === undefined) return;
    const { id, app } = grant;
    await this.#asking.end([{ kind: 'grant', grant: id }], async () => {
      const own = await tokens.issueToken({ client: toClient(app), grantType: 'client_credentials' });
      return tokens.endOwnGrant({ tokenHash: sha256(own.accessToken), id });
    });
  }

  /** The refusal acknowledges the end of the family. */
  async #provoke({ app, facts }: HeldFamily, request: TokenRequest): Promise<void> {
    await this.#asking.end(
      [{ kind: 'family', family: facts.family }],
      () => this.#system.tokens.issueToken({ client: toClient(app), ...request }),
      'invalid_grant',
    );
  }

  async #issue(family: HeldFamily, request: TokenRequest): Promise<void> {
    const { tokens, control } = this.#system;
    const { app, facts, refreshTokens } = family;
    const { answer } = await this.#asking.insist(() =>
      tokens.issueToken({ client: toClient(app), ...request }),
    );
    if (answer === null) return;
    const { accessToken: secret, refreshToken } = answer;
    const hash = sha256(secret);
    const { rows } = await control.databases.authorization.query<{ expires_at: Date }>(
      'SELECT expires_at FROM access_token WHERE hash = $1',
      [hash],
    );
    const expiresAt = this.#requests.toLasting(rows[0]?.expires_at.getTime() ?? 0);
    const held = { app, facts: { ...facts, token: secret, expiresAt }, secret, hash, remembered: null };
    const principal = await this.#requests.introspect(held);
    // A concurrent or repeated refresh gets the same pair.
    if (refreshTokens.includes(refreshToken)) return;
    if (refreshTokens.length === 0) this.#wallet.families.push(family);
    refreshTokens.push(refreshToken);
    this.#wallet.tokens.push({ ...held, remembered: typeof principal === 'string' ? null : principal });
  }
}

export function toClient({ clientId, clientSecret }: RegisteredApp) {
  return { clientId, clientSecret };
}

function toExchange({ code }: HeldFamily): TokenRequest {
  return { grantType: 'authorization_code', code, redirectUri: REDIRECT_URI };
}
