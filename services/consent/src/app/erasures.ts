import type { EvictionPublisher } from './ports.ts';
import type { Erasure, People } from './record-ports.ts';

/** The end of a person's presence (contract section 8). */
export interface Erasures {
  /** Effective before it answers; the same person again is nobody, and removes nothing. */
  erase(userId: string): Promise<Erasure>;
}

export function createErasures(ports: {
  readonly people: People;
  readonly evictions: EvictionPublisher;
}): Erasures {
  return {
    async erase(userId) {
      const erasure = await ports.people.erase(userId);
      for (const grantId of erasure.grantIds) ports.evictions.publish({ case: 'grantId', value: grantId });
      return erasure;
    },
  };
}
