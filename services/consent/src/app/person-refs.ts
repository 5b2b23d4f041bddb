import type { People } from './record-ports.ts';

/** Stands for whoever never gave a consent, or was erased: such an access is refused and belongs to nobody's history. */
const NOBODY = new Uint8Array(16);

/** References of people, kept so that a batch seldom has to ask. */
export interface PersonRefs {
  /** One for each user, in order. Throws what `People` throws. */
  resolve(userIds: readonly string[]): Promise<Uint8Array[]>;
  /** The reference turned out to be a former one. */
  forget(userId: string): void;
}

/**
 * Keeps `limit` of them at most, in two generations: what is used moves to the younger one, and when that is full the older one
 * goes. Nobody's is never kept: the next moment may bring a consent.
 */
export function createPersonRefs(people: Pick<People, 'findRefs'>, limit: number): PersonRefs {
  let young = new Map<string, Uint8Array>();
  let old = new Map<string, Uint8Array>();
  const keep = (userId: string, ref: Uint8Array) => {
    if (young.size >= limit / 2) {
      old = young;
      young = new Map();
    }
    young.set(userId, ref);
  };
  const find = (userId: string) => {
    const ref = young.get(userId);
    if (ref !== undefined) return ref;
    const aged = old.get(userId);
    if (aged !== undefined) keep(userId, aged);
    return aged;
  };
  return {
    async resolve(userIds) {
      const refs = userIds.map(find);
      const missing = new Set(userIds.filter((_, index) => refs[index] === undefined));
      if (missing.size === 0) return refs as Uint8Array[];
      const found = await people.findRefs([...missing]);
      for (const [userId, ref] of found) keep(userId, ref);
      return userIds.map((userId, index) => refs[index] ?? found.get(userId) ?? NOBODY);
    },
    forget(userId) {
      young.delete(userId);
      old.delete(userId);
    },
  };
}
