import type { Authorization, Introspected } from './authorization.ts';
import type { Eviction } from './consent.ts';
import type { HealthData } from './health-data.ts';
import { Refused, refused, type Steps, type World } from './world.ts';

const TTL_MS = 60_000;

interface Remembered {
  readonly principal: Introspected;
  readonly until: number;
}

/** A gateway with its memory of tokens: facts at most a minute old, by its own clock. */
export class Gateway {
  readonly name: string;
  readonly #world: World;
  readonly #authorization: Authorization;
  readonly #healthData: HealthData;
  readonly #remembered = new Map<string, Remembered>();
  #generation = 0;

  constructor(parts: { name: string; world: World; authorization: Authorization; healthData: HealthData }) {
    this.name = parts.name;
    this.#world = parts.world;
    this.#authorization = parts.authorization;
    this.#healthData = parts.healthData;
  }

  /** Answers with data, or throws the refusal. */
  *read(request: string, token: string, scope: string): Steps<void> {
    yield;
    const cached = this.#find(token);
    const first = cached ?? (yield* this.#introspect(token));
    const uncovered = !this.#covers(first, scope);
    // What is remembered refuses nobody for lack of consent: authorization is asked again first.
    const renewed = uncovered && cached !== null;
    const principal = renewed ? yield* this.#introspect(token) : first;
    if (uncovered && !(renewed && this.#covers(principal, scope))) throw refused('consent_required');
    const fromCache = cached !== null && !renewed;
    try {
      const { family, expiresAt } = principal.token;
      const access = {
        request,
        token,
        scope,
        user: family.user,
        app: family.app,
        grant: family.grant,
        family: family.id,
        tokenExpiresAt: expiresAt,
      };
      yield* this.#world.call('health-data', () => this.#healthData.read(access, fromCache));
    } catch (error) {
      if (error instanceof Refused) this.#remembered.delete(token);
      throw error;
    }
  }

  evict({ kind, value }: Eviction): void {
    this.#generation += 1;
    for (const [token, { principal }] of this.#remembered) {
      const { family } = principal.token;
      const owners = { token, family: family.id, grant: family.grant, app: family.app };
      if (owners[kind] === value) this.#remembered.delete(token);
    }
  }

  /** Nothing outlives the process. */
  forgetAll(): void {
    this.#generation += 1;
    this.#remembered.clear();
  }

  *#introspect(token: string): Steps<Introspected> {
    const askedAt = this.#now();
    const generation = this.#generation;
    const principal = yield* this.#world.call('authorization', () => this.#authorization.introspect(token));
    if (principal.ledgerChecked && generation === this.#generation) {
      const until = Math.min(askedAt + TTL_MS, principal.token.expiresAt);
      this.#remembered.set(token, { principal, until });
    }
    return principal;
  }

  #find(token: string): Introspected | null {
    const entry = this.#remembered.get(token);
    if (entry === undefined) return null;
    if (this.#now() < entry.until) return entry.principal;
    this.#remembered.delete(token);
    return null;
  }

  #covers({ token, grant, ledgerChecked }: Introspected, scope: string): boolean {
    if (!token.scopes.includes(scope)) return false;
    if (!ledgerChecked) return true;
    return grant?.status === 'active' && this.#now() < grant.expiresAt && grant.scopes.includes(scope);
  }

  #now(): number {
    return this.#world.clock(this.name);
  }
}
