import { LRUCache } from 'lru-cache';
import type { AccessRecordStore } from './access-ports.ts';

/** Stands for the person of a grant that does not exist, or not any more: such an access is refused and is in nobody's history. */
const NOBODY = new Uint8Array(16);

/** References by which the records of grants name their people, kept so that a batch seldom has to ask. */
export interface GrantRefs {
  /** One for each grant, in order. Throws what `AccessRecordStore` throws. */
  resolve(grantIds: readonly string[]): Promise<Uint8Array[]>;
}

/**
 * Keeps the `limit` references that were used last. A kept reference never becomes wrong, because that of a grant never changes: a
 * person who consents again after an erasure gets grants with new ids and a new reference. `NOBODY` is not kept, since the grant may
 * be made a moment later.
 */
export function createGrantRefs(store: Pick<AccessRecordStore, 'findRefs'>, limit: number): GrantRefs {
  const kept = new LRUCache<string, Uint8Array>({ max: limit });
  return {
    async resolve(grantIds) {
      const refs = grantIds.map((grantId) => kept.get(grantId));
      const missing = new Set(grantIds.filter((_, index) => refs[index] === undefined));
      if (missing.size === 0) return refs as Uint8Array[];
      const found = await store.findRefs([...missing]);
      for (const [grantId, ref] of found) kept.set(grantId, ref);
      return grantIds.map((grantId, index) => refs[index] ?? found.get(grantId) ?? NOBODY);
    },
  };
}
