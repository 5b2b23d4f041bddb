import type { Authorization } from './authorization.ts';
import type { IssuedTokens } from './authorization-tables.ts';
import type { Consent } from './consent.ts';
import type { Gateway } from './gateway.ts';
import type { Approved, AppStatus } from './ledger.ts';
import type { Ending, Restorable, TraceEvent } from './trace.ts';
import { type HeldFamily, type HeldToken, Wallet } from './wallet.ts';
import { Refused, type Steps, Unavailable, type World } from './world.ts';

export const USER = 'user';

/** What is asked again when no answer came, so often. */
const ATTEMPTS = 3;

export interface Services {
  readonly world: World;
  readonly gateways: readonly Gateway[];
  readonly authorization: Authorization;
  readonly consent: Consent;
}

/**
 * The world outside: a user, the developer of the apps, the apps. They know what they were told, ask again when no answer
 * came, and write down what the oracle judges. They never crash. Gateways only pass on what they ask, except for data.
 */
export class People {
  readonly trace: TraceEvent[] = [];
  readonly wallet = new Wallet();
  readonly #services: Services;
  #requests = 0;
  #pending = 0;

  constructor(services: Services) {
    this.#services = services;
  }

  *requestData(gateway: Gateway, held: HeldToken, scope: string): Steps<void> {
    const { world } = this.#services;
    this.#requests += 1;
    const request = `request${this.#requests}`;
    const at = world.tick();
    this.trace.push({ kind: 'request-started', at, request, access: { ...held, scope } });
    world.note(() => `client: ${request} by ${held.token} for ${scope} at ${gateway.name}`);
    // Written where the first byte leaves, so that an answer that gets lost counts too.
    const answer = (data: boolean, reason: string) => {
      this.trace.push({ kind: 'answered', at: world.tick(), request, data, reason });
      world.note(() => `${gateway.name}: ${request} ${data ? 'gets DATA' : `is refused (${reason})`}`);
    };
    try {
      yield* world.call(gateway.name, () => answering(gateway.read(request, held.token, scope), answer), {
        mayDouble: false,
      });
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
    }
  }

  /** Approves, and lets the app exchange the code. */
  *approve(app: string, asked: readonly string[], approved: readonly string[]): Steps<void> {
    const { consent, authorization } = this.#services;
    this.#pending += 1;
    const pending = `pending${this.#pending}`;
    const opened = yield* this.#insist(`asks for ${asked} (${pending}, ${app})`, () =>
      this.#call('consent', () => consent.openPending(pending, USER, app, asked)),
    );
    if (opened === null) return;
    const askedAt = this.#services.world.tick();
    const restored = approved.map((scope) => this.#restore({ kind: 'scope', user: USER, app, scope }));
    const done = yield* this.#insist(`approves ${approved} of ${asked} (${pending})`, () =>
      this.#call('authorization', () => authorization.complete(pending, approved, 90 * 86_400_000)),
    );
    if (done === null) return;
    for (const over of restored) over();
    this.wallet.grants.push(done.answer);
    for (const scope of asked.filter((one) => !approved.includes(one))) {
      this.#acknowledge(askedAt, { kind: 'scope', user: USER, app, scope });
    }
    yield* this.#exchange(app, done.answer.code);
  }

  *narrow({ grant, app }: Approved, keep: readonly string[], all: readonly string[]): Steps<void> {
    const askedAt = this.#services.world.tick();
    const done = yield* this.#insist(`narrows ${grant} to ${keep}`, () =>
      this.#call('consent', () => this.#services.consent.narrow(grant, { keep })),
    );
    if (done === null) return;
    for (const scope of all.filter((one) => !keep.includes(one))) {
      this.#acknowledge(askedAt, { kind: 'scope', user: USER, app, scope });
    }
  }

  *shorten({ grant }: Approved, lifeMs: number): Steps<void> {
    yield* this.#insist(`shortens ${grant} to ${lifeMs} ms`, () =>
      this.#call('consent', () => this.#services.consent.narrow(grant, { lifeMs })),
    );
  }

  *revokeGrant({ grant }: Approved): Steps<void> {
    yield* this.#end(`revokes ${grant}`, [{ kind: 'grant', grant }], () =>
      this.#call('consent', () => this.#services.consent.revokeGrant(grant)),
    );
  }

  *revokeAll(): Steps<void> {
    const endings = this.wallet.grants.map(({ grant }) => ({ kind: 'grant', grant }) as const);
    yield* this.#end('revokes all', endings, () =>
      this.#call('consent', () => this.#services.consent.revokeAll(USER)),
    );
  }

  *setStatuses(app: string, statuses: readonly AppStatus[]): Steps<void> {
    for (const status of statuses) yield* this.#setStatus(app, status);
  }

  *#setStatus(app: string, status: AppStatus): Steps<void> {
    const { world, authorization } = this.#services;
    const askedAt = world.tick();
    const over = status === 'active' ? this.#restore({ kind: 'app', app }) : null;
    const done = yield* this.#insist(`sets ${app} ${status}`, () =>
      world.call('authorization', () => authorization.setStatus(app, status), { mayDouble: false }),
    );
    // Only when it was asked once: an attempt that was given up may still take effect.
    if (done?.attempts === 1) over?.();
    if (done?.answer.status !== status) return;
    if (status === 'suspended') this.#acknowledge(askedAt, { kind: 'app', app });
    if (status === 'revoked') this.#acknowledge(askedAt, { kind: 'app-life', app, epoch: done.answer.epoch });
  }

  *revokeToken({ app, token }: HeldToken): Steps<void> {
    yield* this.#end(`revokes ${token}`, [{ kind: 'token', token }], () =>
      this.#call('authorization', () => this.#services.authorization.revoke(app, token)),
    );
  }

  *revokeFamily({ app, family, refreshTokens: [oldest = ''] }: HeldFamily): Steps<void> {
    yield* this.#end(`revokes ${oldest}`, [{ kind: 'family', family }], () =>
      this.#call('authorization', () => this.#services.authorization.revoke(app, oldest)),
    );
  }

  *refresh({ app, code, refreshTokens }: HeldFamily): Steps<void> {
    const newest = refreshTokens.at(-1) ?? '';
    const done = yield* this.#insist(`refreshes by ${newest}`, () =>
      this.#call('authorization', () => this.#services.authorization.refresh(app, newest)),
    );
    if (done !== null) this.wallet.keep(code, done.answer);
  }

  /** Presents a refresh token whose successor was used: refused, and the family is over. */
  *reuse({ app, family, refreshTokens }: HeldFamily): Steps<void> {
    const old = refreshTokens.at(-3);
    if (old === undefined) return;
    yield* this.#provoke(`reuses ${old}`, family, () => this.#services.authorization.refresh(app, old));
  }

  /** Presents a code that was exchanged: refused, and what came of it is over. */
  *replay({ app, family, code }: HeldFamily): Steps<void> {
    yield* this.#provoke(`replays ${code}`, family, () => this.#services.authorization.exchange(app, code));
  }

  *#exchange(app: string, code: string): Steps<void> {
    const done = yield* this.#insist(`exchanges ${code}`, () =>
      this.#call('authorization', () => this.#services.authorization.exchange(app, code)),
    );
    if (done !== null) this.wallet.keep(code, done.answer);
  }

  *#end(what: string, endings: readonly Ending[], ask: () => Steps<void>): Steps<void> {
    const askedAt = this.#services.world.tick();
    const done = yield* this.#insist(what, ask);
    if (done === null) return;
    for (const ending of endings) this.#acknowledge(askedAt, ending);
  }

  /** The refusal `invalid_grant` is the acknowledgement. */
  *#provoke(what: string, family: string, ask: () => Steps<IssuedTokens>): Steps<void> {
    const askedAt = this.#services.world.tick();
    const done = yield* this.#insist(what, () => this.#call('authorization', () => refusal(ask())));
    if (done?.answer === 'invalid_grant') this.#acknowledge(askedAt, { kind: 'family', family });
  }

  /** Answers null when it was refused, or when no attempt was answered. */
  *#insist<T>(what: string, ask: () => Steps<T>): Steps<{ answer: T; attempts: number } | null> {
    const { world } = this.#services;
    for (let attempts = 1; attempts <= ATTEMPTS; attempts += 1) {
      world.note(() => `client: ${what}${attempts === 1 ? '' : ' (again)'}`);
      try {
        return { answer: yield* ask(), attempts };
      } catch (error) {
        world.note(() => `client: ${what}: ${(error as Error).message}`);
        if (error instanceof Refused) return null;
        if (!(error instanceof Unavailable)) throw error;
      }
    }
    return null;
  }

  *#call<T>(actor: string, work: () => Steps<T>): Steps<T> {
    return yield* this.#services.world.call(actor, work);
  }

  #acknowledge(askedAt: number, ended: Ending): void {
    const { world } = this.#services;
    this.trace.push({ kind: 'acknowledged', at: world.tick(), askedAt, ended });
    world.note(() => `client: ACKNOWLEDGED ${JSON.stringify(ended)}`);
  }

  /** Answers what to call when it cannot take effect any more. */
  #restore(restores: Restorable): () => void {
    const { world } = this.#services;
    const event = {
      kind: 'restored' as const,
      at: world.tick(),
      answeredAt: null as number | null,
      restores,
    };
    this.trace.push(event);
    return () => {
      event.answeredAt = world.tick();
    };
  }
}

function* answering(work: Steps<void>, answer: (data: boolean, reason: string) => void): Steps<void> {
  try {
    yield* work;
    answer(true, '');
  } catch (error) {
    answer(false, (error as Error).message);
  }
}

function* refusal(work: Steps<unknown>): Steps<string> {
  try {
    yield* work;
    return '';
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return error.reason;
  }
}
