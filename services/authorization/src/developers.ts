import { parseUserId } from '@phds/service-kit/ids';
import type { DeveloperStore } from './store/prisma-developers.ts';

/** Who may register apps. */
export interface Developers extends Omit<DeveloperStore, 'has'> {
  mayRegister(session: {
    readonly userId: string;
    readonly claims: Readonly<Record<string, unknown>>;
  }): Promise<boolean>;
}

/** `claim` is `name=value`, for sessions with a claim. */
export function createDevelopers(
  people: DeveloperStore,
  admitted: 'anyone' | 'claim' | 'listed',
  claim: string | undefined,
): Developers {
  const [name = '', ...rest] = (claim ?? '').split('=');
  const value = rest.join('=');
  return {
    async mayRegister({ userId, claims }) {
      if (admitted === 'listed') return people.has(userId);
      return admitted === 'anyone' || (claim !== undefined && [claims[name]].flat().includes(value));
    },
    list: (page) => people.list(page),
    add: async (userId) => people.add(parseUserId(userId)),
    remove: async (userId) => people.remove(parseUserId(userId)),
  };
}
