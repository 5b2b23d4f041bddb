import type { AccessFacts } from '@phds/protocol/trace';

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
export type TokenState = 'live' | 'ending' | 'dead' | 'narrowed' | 'void';

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
