import { randomBytes } from 'node:crypto';
import { sha256 } from '@phds/service-kit/secrets';
import { LRUCache } from 'lru-cache';

interface Presented {
  readonly clientId?: string;
  readonly clientSecret?: string;
}

const MAX_CLIENTS = 10_000;

/**
 * Credentials that authorization has accepted at this gateway, so that the limit of their app can be counted without asking it
 * first. They open nothing: authorization authenticates every request itself. Holds no secret, only its salted hash.
 */
export class KnownClients {
  readonly #salt = randomBytes(32).toString('base64');
  readonly #clientIds = new LRUCache<string, string>({ max: MAX_CLIENTS });

  /** The client id of these credentials; undefined when they are not known. */
  find(presented: Presented): string | undefined {
    return this.#clientIds.get(this.#hash(presented));
  }

  add(presented: Presented, clientId: string): void {
    this.#clientIds.set(this.#hash(presented), clientId);
  }

  /** Called when authorization has refused them. */
  forget(presented: Presented): void {
    this.#clientIds.delete(this.#hash(presented));
  }

  #hash({ clientId = '', clientSecret = '' }: Presented): string {
    return sha256(JSON.stringify([this.#salt, clientId, clientSecret])).toString('base64');
  }
}
