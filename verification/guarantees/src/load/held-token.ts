import { expectStatus, type PartnerApp } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import type { AccessFacts } from '../protocol/trace.ts';

/** A scope and a path that it opens. */
export interface Reading {
  readonly scope: string;
  readonly path: string;
}

export const HEART: Reading = { scope: 'read:health-data:heart', path: '/api/v1/health-data/heart' };
export const PROFILE: Reading = { scope: 'read:profile', path: '/api/v1/profile' };

/**
 * `live`: opens data. `ending`: an end was requested, so any response is possible. `dead`: the end was acknowledged. `narrowed`:
 * the withdrawal of heart rates was acknowledged. `void`: the end may be undone, so the token is not checked any more.
 */
type TokenState = 'live' | 'ending' | 'dead' | 'narrowed' | 'void';

/** An access token and what is known about it. */
export interface HeldToken {
  readonly secret: string;
  readonly facts: Omit<AccessFacts, 'scope'>;
  state: TokenState;
  /** The entity tag of its last read of heart rates. */
  etag: string | null;
}

/** Whether this read must be refused from now on. */
export function isOver({ state }: HeldToken, { scope }: Reading): boolean {
  return state === 'dead' || (state === 'narrowed' && scope === HEART.scope);
}

const MOST_OVER = 400;
const RECENT = 24;
/** Share of the reads that use an ended token; those read several times at once. */
const SHARE_OVER = 0.6;

/** The tokens of the steady readers. */
export class TokenPool {
  readonly #live = new Set<HeldToken>();
  /** Newest last. */
  #over: HeldToken[] = [];

  addLive(token: HeldToken): void {
    this.#live.add(token);
  }

  /** Marks a token as ended after the acknowledgement. The oldest ended tokens are dropped. */
  end(token: HeldToken): void {
    this.#live.delete(token);
    this.#over.push(token);
    if (this.#over.length > 2 * MOST_OVER) this.#over = this.#over.slice(-MOST_OVER);
  }

  remove(token: HeldToken): void {
    this.#live.delete(token);
    this.#over = this.#over.filter((each) => each !== token);
  }

  /** A token to read with: mostly an ended one, half of those from the latest; null when there is none. */
  pick(): HeldToken | null {
    const over = this.#over.length > 0 && (this.#live.size === 0 || Math.random() < SHARE_OVER);
    if (!over) return any([...this.#live]);
    return any(Math.random() < 0.5 ? this.#over.slice(-RECENT) : this.#over);
  }
}

function any<T>(values: readonly T[]): T | null {
  return values[Math.floor(Math.random() * values.length)] ?? null;
}

/** Sets an app's status as its developer through this gateway. Throws unless acknowledged. */
export async function setStatus(
  gateway: string,
  { clientId }: PartnerApp,
  session: string,
  status: 'active' | 'suspended' | 'revoked',
): Promise<void> {
  const url = `${gateway}/developer/apps/${clientId}/status`;
  expectStatus(200, await send(url, { bearer: session, json: { status } }));
}
