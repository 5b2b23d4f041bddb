import { randomBytes } from 'node:crypto';
import { sha256 } from '@phds/service-kit/secrets';
import { LRUCache } from 'lru-cache';

/** A secret with its client id, or the client id of an app without a secret and the key of the address that named it. */
interface Presented {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly address?: string;
}

const MAX_CLIENTS = 10_000;

/**
 * Which app presents what, so that a request can be counted, and refused beyond the limit, before authorization is called. Opens
 * nothing: authorization authenticates every request. Holds no secret, only its salted hash.
 */
export class KnownClients {
  readonly #salt = randomBytes(32).toString('base64');
  readonly #ofSecrets = new LRUCache<string, string>({ max: MAX_CLIENTS });
  /** Apart, because everybody with many addresses can fill it. */
  readonly #ofAddresses = new LRUCache<string, string>({ max: MAX_CLIENTS });

  /** The client id of what authorization has accepted at this gateway; undefined when it is not known. */
  find(presented: Presented): string | undefined {
    return this.#among(presented).get(this.#hash(presented));
  }

  add(presented: Presented, clientId: string): void {
    this.#among(presented).set(this.#hash(presented), clientId);
  }

  /** Called when authorization has refused it. */
  forget(presented: Presented): void {
    this.#among(presented).delete(this.#hash(presented));
  }

  #among({ address }: Presented): LRUCache<string, string> {
    return address === undefined ? this.#ofSecrets : this.#ofAddresses;
  }

  #hash({ clientId = '', clientSecret = '', address = '' }: Presented): string {
    return sha256(JSON.stringify([this.#salt, clientId, clientSecret, address])).toString('base64');
  }
}
