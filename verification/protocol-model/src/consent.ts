import type { ConsentDatabase } from './consent-database.ts';
import {
  type Access,
  type AppRow,
  type Approved,
  type AppStatus,
  checkLiveness,
  type GrantRow,
  judgeAccess,
  type LedgerState,
  type Liveness,
  type LivenessQuery,
  statusOf,
  type Verdict,
  withRow,
} from './ledger.ts';
import { type Change, changeOfApproval, changeOfRecord, changeOfRefusal } from './ledger-changes.ts';
import type { VariantName } from './variants.ts';
import { refused, type Steps, type World } from './world.ts';

/** What the gateways are told to forget. */
export interface Eviction {
  readonly kind: 'token' | 'family' | 'grant' | 'app';
  readonly value: string;
}

type Judge = (state: LedgerState, now: number) => Verdict;

const DAY_MS = 86_400_000;

/** The consent service: the ledger, the records and the judgement. */
export class Consent {
  readonly #world: World;
  readonly #database: ConsentDatabase;
  readonly #variant: VariantName | null;
  readonly #publish: (eviction: Eviction) => void;
  #ids = 0;

  constructor(parts: {
    world: World;
    database: ConsentDatabase;
    variant: VariantName | null;
    /** Best effort. */
    publish: (eviction: Eviction) => void;
  }) {
    this.#world = parts.world;
    this.#database = parts.database;
    this.#variant = parts.variant;
    this.#publish = parts.publish;
  }

  /** Records, commits, and only then judges. */
  *recordAccess(access: Access): Steps<Verdict> {
    const record = this.#newId('record');
    const judge = (state: LedgerState, now: number) => judgeAccess(state, access, now, this.#variant);
    const verdict = yield* this.#recordAndJudge(record, access, judge);
    this.#world.note(() => `consent: ${access.request} is ${verdict}`);
    if (verdict !== 'released') yield* this.#database.commit(changeOfRefusal(record));
    return verdict;
  }

  *#recordAndJudge(id: string, access: Access, judge: Judge): Steps<Verdict> {
    const database = this.#database;
    // Its order is that of its commit, not of the call.
    const insert: Change<void> = (state, now) => {
      this.#world.note(() => `database: record of ${access.request} is committed`);
      return changeOfRecord(id, access, this.#world.tick())(state, now);
    };
    switch (this.#variant) {
      case 'validate-before-record': {
        const verdict = yield* database.read(judge);
        yield* database.commit(insert);
        return verdict;
      }
      case 'validate-in-the-insert-snapshot':
        return yield* database.commitAndRead(insert, judge);
      case 'release-before-the-verdict':
        yield* database.commit(insert);
        this.#world.start('consent', () => this.#judgeLate(id, judge));
        return 'released';
      case 'judged-on-a-replica':
        yield* database.commit(insert);
        return yield* database.readLate(judge);
      default:
        yield* database.commit(insert);
        return yield* database.read(judge);
    }
  }

  *#judgeLate(id: string, judge: Judge): Steps<void> {
    const verdict = yield* this.#database.read(judge);
    if (verdict !== 'released') yield* this.#database.commit(changeOfRefusal(id));
  }

  *checkLiveness(query: LivenessQuery): Steps<Liveness> {
    return yield* this.#database.read((state, now) => checkLiveness(state, query, now));
  }

  /** Effective when it answers; the same again finishes what a crash interrupted. */
  *setAppStatus(app: string, status: AppStatus): Steps<AppRow> {
    return yield* this.#end({ kind: 'app', value: app }, (state) => {
      const known = state.apps.get(app);
      if (known === undefined) throw refused('not_found');
      if (known.status === status) return { state, answer: known };
      const { revision, epoch } = known;
      const next = { status, revision: revision + 1, epoch: status === 'revoked' ? epoch + 1 : epoch };
      return { state: { ...state, apps: withRow(state.apps, app, next) }, answer: next };
    });
  }

  *revokeFamily(family: string, expiresAt: number): Steps<void> {
    yield* this.#end({ kind: 'family', value: family }, (state, revokedAt) => {
      const families = withRow(state.families, family, { revokedAt, expiresAt });
      return { state: { ...state, families }, answer: undefined };
    });
  }

  *revokeToken(token: string, expiresAt: number): Steps<void> {
    yield* this.#end({ kind: 'token', value: token }, (state, revokedAt) => {
      const tokens = withRow(state.tokens, token, { revokedAt, expiresAt });
      return { state: { ...state, tokens }, answer: undefined };
    });
  }

  *revokeGrant(id: string): Steps<void> {
    yield* this.#end({ kind: 'grant', value: id }, (state) => {
      const grant = state.grants.get(id);
      if (grant === undefined) throw refused('not_found');
      const grants = withRow(state.grants, id, { ...grant, revoked: true, open: false });
      return { state: { ...state, grants }, answer: undefined };
    });
  }

  *revokeAll(user: string): Steps<void> {
    const ended = yield* this.#end(null, (state, now) => {
      const active = [...state.grants.values()].filter(
        (grant) => grant.user === user && statusOf(state, grant, now) === 'active',
      );
      const grants = new Map(state.grants);
      for (const grant of active) grants.set(grant.id, { ...grant, revoked: true, open: false });
      return { state: { ...state, grants }, answer: active };
    });
    for (const grant of ended) this.#publish({ kind: 'grant', value: grant.id });
  }

  /** Takes scopes away, or shortens the life. */
  *narrow(id: string, terms: { keep: readonly string[] } | { lifeMs: number }): Steps<GrantRow> {
    return yield* this.#end({ kind: 'grant', value: id }, (state, now) => {
      const grant = state.grants.get(id);
      if (grant === undefined || statusOf(state, grant, now) !== 'active') throw refused('conflict');
      const narrowed =
        'keep' in terms
          ? { ...grant, scopes: grant.scopes.filter((scope) => terms.keep.includes(scope)) }
          : { ...grant, expiresAt: Math.min(grant.expiresAt, now + terms.lifeMs) };
      if (narrowed.scopes.length === 0) throw refused('invalid_request');
      return { state: { ...state, grants: withRow(state.grants, id, narrowed) }, answer: narrowed };
    });
  }

  *openPending(id: string, user: string, app: string, asked: readonly string[]): Steps<void> {
    yield* this.#database.commit((state) => {
      const epoch = state.apps.get(app)?.epoch ?? 1;
      const row = { user, app, epoch, asked, decided: null };
      return { state: { ...state, pending: withRow(state.pending, id, row) }, answer: undefined };
    });
  }

  /** The same pending approval again answers the same. */
  *approve(pending: string, scopes: readonly string[], lifeMs: number): Steps<Approved> {
    const newGrant = this.#newId('grant');
    const command = { pending, scopes, lifeMs, newGrant, variant: this.#variant };
    const approved = yield* this.#database.commit((state, now) => changeOfApproval(state, now, command));
    this.#publish({ kind: 'grant', value: approved.grant });
    return approved;
  }

  /** Deletes revocations of what has been over by itself for a week. */
  *prune(): Steps<void> {
    const early = this.#variant === 'ledger-row-pruned-early';
    yield* this.#database.commit((state, now) => {
      const kept = <Row extends { revokedAt: number; expiresAt: number }>(table: ReadonlyMap<string, Row>) =>
        new Map(
          [...table].filter(([, row]) => (early ? row.revokedAt + 60_000 : row.expiresAt + 7 * DAY_MS) > now),
        );
      return {
        state: { ...state, families: kept(state.families), tokens: kept(state.tokens) },
        answer: undefined,
      };
    });
  }

  /** Commits and tells the gateways; answers after the commit. */
  *#end<T>(eviction: Eviction | null, change: Change<T>): Steps<T> {
    if (this.#variant === 'acknowledged-before-the-commit') {
      const { answer } = change(this.#database.state, this.#database.now());
      this.#world.start('consent', () => this.#database.commit(change));
      return answer;
    }
    const answer = yield* this.#database.commit(change);
    if (eviction !== null) this.#publish(eviction);
    return answer;
  }

  #newId(kind: string): string {
    this.#ids += 1;
    return `${kind}${this.#ids}`;
  }
}
