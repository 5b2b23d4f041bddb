import type { People } from './record-ports.ts';

/** Stands for whoever never gave a consent, or was erased: such an access is refused and belongs to nobody's history. */
const NOBODY = new Uint8Array(16);

/** References of people, kept so that a batch seldom has to ask. */
export interface PersonRefs {
  /** Throws what `People` throws. */
  resolve(userIds: Iterable<string>): Promise<(userId: string) => Uint8Array>;
  /** The reference turned out to be a former one. */
  forget(userId: string): void;
}

/** Keeps the `limit` last used ones. Nobody's is never kept: the next moment may bring a consent. */
export function createPersonRefs(people: Pick<People, 'findRefs'>, limit: number): PersonRefs {
  const known = new Map<string, Uint8Array>();
  return {
    async resolve(userIds) {
      const asked = new Map<string, Uint8Array>();
      const missing = new Set<string>();
      for (const userId of userIds) {
        const ref = known.get(userId);
        if (ref === undefined) missing.add(userId);
        else asked.set(userId, ref);
      }
      if (missing.size > 0) {
        for (const [userId, ref] of await people.findRefs([...missing])) asked.set(userId, ref);
      }
      for (const [userId, ref] of asked) {
        // At the end of the Map are the last used.
        known.delete(userId);
        known.set(userId, ref);
      }
      for (const userId of known.keys()) {
        if (known.size <= limit) break;
        known.delete(userId);
      }
      return (userId) => asked.get(userId) ?? NOBODY;
    },
    forget: (userId) => {
      known.delete(userId);
    },
  };
}
