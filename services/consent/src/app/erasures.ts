import type { Erasure, PersonStore } from './access-ports.ts';
import type { EvictionPublisher } from './ports.ts';

/** Erases people. */
export interface Erasures {
  /** In effect before it returns. For an unknown or erased person it removes nothing. */
  erase(userId: string): Promise<Erasure>;
}

export function createErasures(dependencies: {
  readonly people: PersonStore;
  readonly evictions: EvictionPublisher;
}): Erasures {
  const { people, evictions } = dependencies;
  return {
    async erase(userId) {
      const erasure = await people.erase(userId);
      for (const grantId of erasure.grantIds) evictions.publish({ case: 'grantId', value: grantId });
      return erasure;
    },
  };
}
