import { timestampMs } from '@bufbuild/protobuf/wkt';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError, type Reason } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import type { DataPath } from './data-path.ts';
import type { Stopped } from './disturbances.ts';
import { type ActionOf, SCOPES, type Scope } from './history.ts';
import type { System } from './system.ts';
import type { AccessRecorded, TraceEvent } from './trace.ts';
import { type HeldToken, type Principal, pick, type Wallet } from './wallet.ts';

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
    await path.ready();
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
