import { LRUCache } from 'lru-cache';
import type { Adapter, AdapterPayload } from 'oidc-provider';

const MAX_ITEMS = 10_000;

/**
 * Keeps one kind of the provider's state (sessions, interactions, codes, …) in memory, so everybody is signed out when the provider
 * restarts. The package's own adapter warns on the console that it is for development only, and keeps a thousand items of all kinds
 * together.
 */
export class MemoryAdapter implements Adapter {
  readonly #items = new LRUCache<string, AdapterPayload>({ max: MAX_ITEMS });
  readonly #idsByUid = new LRUCache<string, string>({ max: MAX_ITEMS });

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    // A ttl of 0 means none.
    this.#items.set(id, payload, { ttl: (expiresIn ?? 0) * 1000 });
    if (payload.uid !== undefined) this.#idsByUid.set(payload.uid, id);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#items.get(id);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#items.get(this.#idsByUid.get(uid) ?? '');
  }

  /** Only the device flow has user codes, and it is off. */
  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async consume(id: string): Promise<void> {
    const item = this.#items.get(id);
    if (item !== undefined) item['consumed'] = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    this.#items.delete(id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, item] of this.#items.entries()) if (item.grantId === grantId) this.#items.delete(id);
  }
}
