import type { AccessFacts } from '@phds/protocol-model/trace';

/** A scope with the path it opens. */
export interface Reading {
  readonly scope: string;
  readonly path: string;
}

export const HEART: Reading = { scope: 'read:health-data:heart', path: '/api/v1/health-data/heart' };
export const PROFILE: Reading = { scope: 'read:profile', path: '/api/v1/profile' };

/**
 * `live`: opens data. `ending`: somebody asked to end it, so anything may come. `dead`: that was acknowledged. `narrowed`: that
 * the heart rates were withdrawn was. `void`: what ended it may be undone, so nothing is asked of it any more.
 */
export type TokenState = 'live' | 'ending' | 'dead' | 'narrowed' | 'void';

/** An access token and what is known of it. */
export interface HeldToken {
  readonly secret: string;
  readonly facts: Omit<AccessFacts, 'scope'>;
  state: TokenState;
  /** The last entity tag that it read the heart rates with. */
  etag: string | null;
}

/** Whether reading with it must be refused from now on. */
export function isOver({ state }: HeldToken, { scope }: Reading): boolean {
  return state === 'dead' || (state === 'narrowed' && scope === HEART.scope);
}
