import type { RedisConnection } from '@phds/service-kit/redis';
import { toAddressKey } from '../domain/client-address.ts';
import { isSafeMethod } from '../domain/safe-methods.ts';
import { type Allowance, Limit } from './limit.ts';

export interface SurfaceLimitsOptions {
  readonly redis: RedisConnection | null;
  readonly clientPerMinute: number;
  readonly userPerMinute: number;
  readonly userChangesPerMinute: number;
  readonly clientCredentialsPerMinute: number;
  readonly registrationsPerMinute: number;
  readonly previewsPerMinute: number;
  readonly anonymousAuthorizationsPerMinute: number;
}

/** Requests that cost more than others of their surface, and have a bucket of their own besides the surface's. */
export type CostlyRequest = 'client-credentials' | 'registrations' | 'previews';

/**
 * Limits of `/oauth`, `/developer` and `/partner`. Those of an app and of a person are taken from only after they have authenticated, so
 * that nobody else can use them up.
 */
export class SurfaceLimits {
  readonly #client: Limit;
  readonly #user: Limit;
  readonly #userChanges: Limit;
  readonly #costly: Readonly<Record<CostlyRequest, Limit>>;
  readonly #anonymousAuthorizations: Limit;

  constructor(options: SurfaceLimitsOptions) {
    const { redis } = options;
    this.#client = new Limit({ name: 'client', perMinute: options.clientPerMinute, redis });
    this.#user = new Limit({ name: 'user', perMinute: options.userPerMinute, redis });
    this.#userChanges = new Limit({ name: 'user-changes', perMinute: options.userChangesPerMinute, redis });
    const costly = (name: CostlyRequest, perMinute: number) => new Limit({ name, perMinute, redis });
    this.#costly = {
      'client-credentials': costly('client-credentials', options.clientCredentialsPerMinute),
      registrations: costly('registrations', options.registrationsPerMinute),
      previews: costly('previews', options.previewsPerMinute),
    };
    this.#anonymousAuthorizations = new Limit({
      name: 'anonymous-authorizations',
      perMinute: options.anonymousAuthorizationsPerMinute,
      redis,
    });
  }

  takeForClient(clientId: string): Promise<Allowance> {
    return this.#client.take(clientId);
  }

  /** Requests that change something have a bucket of their own: reading lists keeps nobody from revoking. */
  takeForUser(userId: string, method: string): Promise<Allowance> {
    return (isSafeMethod(method) ? this.#user : this.#userChanges).take(userId);
  }

  /** `key` is the app or the person that has authenticated. */
  takeForCostly(request: CostlyRequest, key: string): Promise<Allowance> {
    return this.#costly[request].take(key);
  }

  /** Of an authorization request without the app's secret: it may name any app, so only the address can be limited. */
  takeForAddress(address: string): Promise<Allowance> {
    return this.#anonymousAuthorizations.take(toAddressKey(address));
  }
}
