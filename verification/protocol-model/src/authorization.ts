import {
  type AuthorizationTables,
  applyStanding,
  type FamilyRow,
  type IssuedTokens,
  isLife,
  presumeStatus,
  type RefreshRow,
  storePair,
  type TokenRow,
} from './authorization-tables.ts';
import type { Consent } from './consent.ts';
import type { AppRow, Approved, AppStatus, GrantRow, Liveness, LivenessQuery } from './ledger.ts';
import type { VariantName } from './variants.ts';
import { refused, type Steps, Unavailable, type World } from './world.ts';

const HOUR_MS = 3_600_000;
const RETRY_WINDOW_MS = 60_000;
const CODE_MS = 300_000;
/** By then everything a family could have issued is over by itself. */
const FAMILY_HORIZON_MS = 30 * 24 * HOUR_MS + HOUR_MS;

/** What stands behind a live access token. */
export interface Introspected {
  readonly token: TokenRow;
  readonly grant: Liveness['grant'];
  readonly ledgerChecked: boolean;
}

/** The authorization service: its own tables, and the ledger as the last word. */
export class Authorization {
  readonly #world: World;
  readonly #consent: Consent;
  readonly #tables: AuthorizationTables;
  readonly #variant: VariantName | null;
  #families = 0;

  constructor(parts: {
    world: World;
    consent: Consent;
    tables: AuthorizationTables;
    variant: VariantName | null;
  }) {
    this.#world = parts.world;
    this.#consent = parts.consent;
    this.#tables = parts.tables;
    this.#variant = parts.variant;
  }

  /** Consent first, the code second; the code follows from the pending approval. */
  *complete(pending: string, scopes: readonly string[], lifeMs: number): Steps<Approved & { code: string }> {
    const approved = yield* this.#ask(() => this.#consent.approve(pending, scopes, lifeMs));
    const code = `code of ${pending}`;
    yield* this.#own(({ codes }) => {
      const expiresAt = this.#now() + CODE_MS;
      if (!codes.has(code)) codes.set(code, { ...approved, code, expiresAt, family: null });
    });
    return { ...approved, code };
  }

  *exchange(app: string, text: string): Steps<IssuedTokens> {
    yield* this.#authenticate(app);
    const code = yield* this.#own(({ codes }) => codes.get(text));
    if (code === undefined || code.app !== app) throw refused('invalid_grant');
    if (code.family !== null) return yield* this.#punish(code.family);
    if (code.expiresAt <= this.#now() || code.epoch !== this.#tables.apps.get(app)?.epoch) {
      throw refused('invalid_grant');
    }
    const grant = yield* this.#requireLiveGrant({ ...code, family: null, token: null });
    this.#families += 1;
    const id = `family${this.#families}`;
    const issued = yield* this.#own((tables) => {
      if (code.family !== null || !isLife(tables, app, code.epoch)) return null;
      code.family = id;
      const { user, epoch, scopes } = code;
      const family = { id, lineage: id, user, app, grant: grant.id, epoch, scopes, revoked: false };
      return storePair(tables, family, 0, this.#accessExpiry(grant));
    });
    if (issued !== null) return issued;
    if (code.family !== null) return yield* this.#punish(code.family);
    throw refused('unauthorized');
  }

  /** Rotates; the same token again gives the same pair until its successor was used or the window is over. */
  *refresh(app: string, text: string): Steps<IssuedTokens> {
    yield* this.#authenticate(app);
    const known = yield* this.#own(({ refreshTokens }) => refreshTokens.get(text));
    if (known === undefined || known.family.app !== app) throw refused('invalid_grant');
    const { family } = known;
    if (family.epoch !== this.#tables.apps.get(app)?.epoch) throw refused('invalid_grant');
    const first = this.#judgeRefresh(known);
    if (first === 'dead') throw refused('invalid_grant');
    if (first === 'reuse') return yield* this.#punish(family.id);
    const grant = yield* this.#requireLiveGrant({ ...family, family: family.id, token: null });
    const outcome = yield* this.#own((tables) => {
      const move = this.#judgeRefresh(known);
      if (move !== 'rotate') return move === 'repeat' ? this.#findSuccessor(tables, known) : move;
      const issued = storePair(tables, this.#heir(family), known.number + 1, this.#accessExpiry(grant));
      known.rotatedAt = this.#now();
      known.successor = issued.refresh;
      return issued;
    });
    if (outcome === 'dead') throw refused('invalid_grant');
    return outcome === 'reuse' ? yield* this.#punish(family.id) : outcome;
  }

  /** An access token alone, a refresh token with its family. */
  *revoke(app: string, text: string): Steps<void> {
    yield* this.#authenticate(app);
    const refresh = yield* this.#own(({ refreshTokens }) => refreshTokens.get(text));
    if (refresh !== undefined) {
      if (!refresh.family.revoked) yield* this.#revokeFamily(refresh.family.id);
      return;
    }
    const token = this.#tables.tokens.get(text);
    if (token === undefined || token.family.app !== app || token.revoked) return;
    const byOwnClock = this.#variant === 'expired-by-the-own-clock-is-not-revoked';
    if (byOwnClock && token.expiresAt <= this.#now()) return;
    yield* this.#ledgerFirst(
      () => this.#consent.revokeToken(text, token.expiresAt),
      () => {
        token.revoked = true;
      },
    );
  }

  *setStatus(app: string, status: AppStatus): Steps<AppRow> {
    const ask = () => this.#consent.setAppStatus(app, status);
    if (this.#variant === 'own-tables-before-the-ledger') {
      yield* this.#own((tables) => presumeStatus(tables, app, status));
    }
    const standing = yield* this.#world.call('consent', ask, { mayDouble: false });
    yield* this.#own((tables) => applyStanding(tables, app, standing));
    return standing;
  }

  /** By its own rows, then by the ledger; without the ledger it says so. */
  *introspect(text: string): Steps<Introspected> {
    const token = yield* this.#own(({ tokens }) => tokens.get(text));
    if (token === undefined) throw refused('unauthorized');
    if (token.expiresAt <= this.#now()) throw refused('token_expired');
    const { family } = token;
    const dead = token.revoked || family.revoked || !isLife(this.#tables, family.app, family.epoch);
    if (dead) throw refused('unauthorized');
    try {
      const query = { ...family, family: family.id, token: text };
      const { appAlive, familyAlive, tokenAlive, grant } = yield* this.#ask(() =>
        this.#consent.checkLiveness(query),
      );
      if (!appAlive || !familyAlive || !tokenAlive || grant === null || grant.status === 'revoked') {
        throw refused('unauthorized');
      }
      return { token, grant, ledgerChecked: true };
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      return { token, grant: null, ledgerChecked: false };
    }
  }

  *#authenticate(app: string): Steps<void> {
    const status = yield* this.#own(({ apps }) => apps.get(app)?.status);
    if (status !== 'active') throw refused('unauthorized');
  }

  *#requireLiveGrant(query: LivenessQuery & { user: string }): Steps<GrantRow> {
    const { appAlive, familyAlive, grant } = yield* this.#ask(() => this.#consent.checkLiveness(query));
    if (!appAlive) throw refused('unauthorized');
    if (grant?.status !== 'active' || grant.user !== query.user || !familyAlive)
      throw refused('invalid_grant');
    return grant;
  }

  #judgeRefresh({ family, rotatedAt, successor }: RefreshRow): 'rotate' | 'repeat' | 'reuse' | 'dead' {
    if (family.revoked) return 'dead';
    if (rotatedAt === null || successor === null) return 'rotate';
    return successor.rotatedAt !== null || this.#now() > rotatedAt + RETRY_WINDOW_MS ? 'reuse' : 'repeat';
  }

  #findSuccessor({ tokens }: AuthorizationTables, { family, number, successor }: RefreshRow): IssuedTokens {
    const access = tokens.get(`${family.lineage}.access${number + 1}`);
    if (successor === null || access === undefined) throw new Error('a rotated token has a successor');
    return { access, refresh: successor };
  }

  #heir(family: FamilyRow): FamilyRow {
    if (this.#variant !== 'refresh-starts-a-new-family') return family;
    this.#families += 1;
    return { ...family, id: `family${this.#families}` };
  }

  *#punish(family: string): Steps<never> {
    yield* this.#revokeFamily(family);
    throw refused('invalid_grant');
  }

  *#revokeFamily(id: string): Steps<void> {
    const horizon = this.#now() + FAMILY_HORIZON_MS;
    yield* this.#ledgerFirst(
      () => this.#consent.revokeFamily(id, horizon),
      ({ families }) => {
        const family = families.get(id);
        if (family !== undefined) family.revoked = true;
      },
    );
  }

  /** No crash in between leaves a revoked thing alive. */
  *#ledgerFirst(
    inLedger: () => Steps<void>,
    inOwnTables: (tables: AuthorizationTables) => void,
  ): Steps<void> {
    const ownFirst = this.#variant === 'own-tables-before-the-ledger';
    if (ownFirst) yield* this.#own(inOwnTables);
    yield* this.#ask(inLedger);
    if (!ownFirst) yield* this.#own(inOwnTables);
  }

  /** One statement on the own tables, committed when it answers. */
  *#own<T>(statement: (tables: AuthorizationTables) => T): Steps<T> {
    yield;
    const answer = statement(this.#tables);
    yield;
    return answer;
  }

  *#ask<T>(work: () => Steps<T>): Steps<T> {
    return yield* this.#world.call('consent', work);
  }

  #accessExpiry(grant: GrantRow): number {
    return Math.min(this.#now() + HOUR_MS, grant.expiresAt);
  }

  #now(): number {
    return this.#world.clock('authorization');
  }
}
