import { timestampMs } from '@bufbuild/protobuf/wkt';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { AppError } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import type { Stopped } from './disturbances.ts';
import { type ActionOf, SCOPES, type Scope } from './history.ts';
import type { System } from './system.ts';
import type { AccessRecorded, TraceEvent } from './trace.ts';
import { type HeldToken, type Principal, pick, type Wallet } from './wallet.ts';

/** The expiry of a token is judged by the whole second. */
const SECOND_MS = 1_000;

// Reasons that do not imply that anything has ended.
const OTHER_REASONS: readonly string[] = ['unknown', 'WINDOW_CHANGED'];

const RECORDS = `
  SELECT r.request_id AS request, r.client_id AS app, r.grant_id AS "grant", r.scope, b.recorded_at AS recorded,
    EXISTS (SELECT FROM access_record later WHERE later.refers_to = r.id) AS refused
  FROM access_record r JOIN access_batch b ON b.writer = r.writer AND b.seq = r.seq AND b.at = r.at
  WHERE r.user_ref = (SELECT user_ref FROM person WHERE user_id = $1) AND r.refers_to IS NULL`;

interface RecordRow extends Pick<AccessRecorded, 'request' | 'app' | 'grant' | 'scope' | 'refused'> {
  readonly recorded: Date;
}

/**
 * Requests for data: the calls that gateways and health-data make to authorization and consent for them. A released access counts
 * as answered.
 */
export class Requests {
  readonly #system: System;
  readonly #trace: TraceEvent[];
  readonly #wallet: Wallet;
  /** How much time has passed artificially, and since when. */
  readonly #elapsed = [{ since: 0, ms: 0 }];

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
    if (typeof principal === 'string') return this.#refuse(request, held, principal);
    // Scopes that the token does not have are refused before the ledger is asked.
    if (!principal.scopes.includes(scope)) return this.#answer(request, { reason: 'insufficient_scope' });
    await stopped?.pass('admitted');
    await this.#record([{ request, held, principal, scope }], stopped !== null);
  }

  /** Every token with every scope in one batch, with cached facts. */
  async requestAll(): Promise<void> {
    const accesses = this.#wallet.tokens.flatMap((held) => {
      const { remembered: principal } = held;
      const scopes = SCOPES.filter((scope) => principal?.scopes.includes(scope));
      if (principal === null) return [];
      return scopes.map((scope) => ({ request: this.#start(held, scope), held, principal, scope }));
    });
    if (accesses.length > 0) await this.#record(accesses, false);
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
    return rows.map(({ recorded, ...row }) => {
      const at = insertedAt.get(row.request);
      if (at === undefined) throw new Error(`nobody inserted the record of ${row.request}`);
      insertedAt.delete(row.request);
      return { kind: 'recorded', ...row, at, databaseTime: this.toLasting(recorded.getTime()) };
    });
  }

  async #record(accesses: readonly Accessed[], stops: boolean): Promise<void> {
    const { records, stoppedRecords } = this.#system;
    try {
      const client = stops ? stoppedRecords : records;
      const { verdicts } = await client.recordAccess({ accesses: accesses.map(toAccess) });
      for (const [index, { request, held, principal }] of accesses.entries()) {
        const verdict = verdicts[index] ?? Verdict.UNSPECIFIED;
        if (verdict !== Verdict.RELEASED) this.#refuse(request, held, Verdict[verdict]);
        else this.#answer(request, { data: true, dataFrom: principal.dataFrom });
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== 'access_not_recorded') throw error;
      for (const { request } of accesses) this.#answer(request, { reason: error.reason });
    }
  }

  #start({ facts }: HeldToken, scope: Scope): string {
    const request = newId('req');
    const at = this.#system.control.tick();
    this.#trace.push({ kind: 'request-started', at, request, access: { ...facts, scope } });
    return request;
  }

  /**
   * Records that the access ended, unless the token may have expired, a service has a wrong clock, or the facts are only out of
   * date.
   */
  #refuse(request: string, { facts }: HeldToken, reason: string): void {
    const now = this.toLasting(Date.now());
    const mayBeOver = facts.expiresAt === null || now > facts.expiresAt - SECOND_MS;
    const saysEnded =
      !OTHER_REASONS.includes(reason) && !mayBeOver && this.#system.control.clock.aheadMs === 0;
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

interface Accessed {
  readonly request: string;
  readonly held: HeldToken;
  readonly principal: Principal;
  readonly scope: Scope;
}

/** The access as health-data reports it. */
function toAccess({ request, held, principal, scope }: Accessed) {
  const { clientId, userId, grantId, familyId, dataFrom, expiresAt } = principal;
  return {
    clientId,
    userId,
    grantId,
    familyId,
    dataFrom,
    scope,
    tokenHash: held.hash,
    tokenExpiresAt: Math.floor(expiresAt / 1000),
    endpoint: '/api/v1/health-data/heart',
    from: '',
    to: '',
    page: 1,
    recordCount: 1,
    requestId: request,
  };
}
