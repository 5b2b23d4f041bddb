import { LRUCache } from 'lru-cache';
import type { AccessRecordStore } from './access-ports.ts';

/** The reference for grants that do not exist or no longer exist. Such accesses are refused and belong to nobody's history. */
const NOBODY = new Uint8Array(16);

/** Caches the references by which the records of grants identify their people, so that most batches need no look-up. */
export interface GrantRefs {
  /** One for each grant, in order. Throws the errors of `AccessRecordStore`. */
  resolve(grantIds: readonly string[]): Promise<Uint8Array[]>;
}

/**
 * Caches the `limit` most recently used references. A cached reference never becomes wrong, because that of a grant never changes:
 * a person who consents again after an erasure gets new grant ids and a new reference. `NOBODY` is not cached, because the grant
 * may be created a moment later.
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
