import { isSandboxApp } from '@phds/catalog/sandbox';
import type { RedisConnection } from '@phds/service-kit/redis';
import { toAddressKey } from '../domain/client-address.ts';
import { isSafeMethod } from '../domain/safe-methods.ts';
import { type Allowance, Limit } from './limit.ts';

export interface SurfaceLimitsOptions {
  readonly redis: RedisConnection | null;
  readonly clientPerMinute: number;
  readonly sandboxClientPerMinute: number;
  readonly userPerMinute: number;
  readonly userChangesPerMinute: number;
  readonly clientCredentialsPerMinute: number;
  readonly registrationsPerMinute: number;
  readonly previewsPerMinute: number;
  readonly summariesPerMinute: number;
  readonly anonymousAuthorizationsPerMinute: number;
  readonly signInsPerMinute: number;
}

/** Expensive requests, which have a limit of their own besides that of their surface. */
export type CostlyRequest = 'client-credentials' | 'registrations' | 'previews' | 'summaries';

/**
 * Limits of `/oauth`, `/developer`, `/partner` and `/sign-in`. Limits of an app or a person are counted only after authentication, so that
 * nobody else can use them up.
 */
export class SurfaceLimits {
  readonly #client: Limit;
  readonly #sandboxClient: Limit;
  readonly #user: Limit;
  readonly #userChanges: Limit;
  readonly #costly: Readonly<Record<CostlyRequest, Limit>>;
  readonly #anonymousAuthorizations: Limit;
  readonly #signIns: Limit;

  constructor(options: SurfaceLimitsOptions) {
    const { redis } = options;
    this.#client = new Limit({ name: 'client', perMinute: options.clientPerMinute, redis });
    this.#sandboxClient = new Limit({ name: 'client', perMinute: options.sandboxClientPerMinute, redis });
    this.#user = new Limit({ name: 'user', perMinute: options.userPerMinute, redis });
    this.#userChanges = new Limit({ name: 'user-changes', perMinute: options.userChangesPerMinute, redis });
    const costly = (name: CostlyRequest, perMinute: number) => new Limit({ name, perMinute, redis });
    this.#costly = {
      'client-credentials': costly('client-credentials', options.clientCredentialsPerMinute),
      registrations: costly('registrations', options.registrationsPerMinute),
      previews: costly('previews', options.previewsPerMinute),
      summaries: costly('summaries', options.summariesPerMinute),
    };
    this.#anonymousAuthorizations = new Limit({
      name: 'anonymous-authorizations',
      perMinute: options.anonymousAuthorizationsPerMinute,
      redis,
    });
    this.#signIns = new Limit({ name: 'sign-ins', perMinute: options.signInsPerMinute, redis });
  }

  takeForClient(clientId: string): Promise<Allowance> {
    return (isSandboxApp(clientId) ? this.#sandboxClient : this.#client).take(clientId);
  }

  /** Reads and changes have separate limits, so that reading lists cannot prevent a revocation. */
  takeForUser(userId: string, method: string): Promise<Allowance> {
    return (isSafeMethod(method) ? this.#user : this.#userChanges).take(userId);
  }

  /** `key` is the authenticated app or person. */
  takeForCostly(request: CostlyRequest, key: string): Promise<Allowance> {
    return this.#costly[request].take(key);
  }

  /** For authorization requests without the app's secret. They may name any app, so only the address can be limited. */
  takeForAddress(address: string): Promise<Allowance> {
    return this.#anonymousAuthorizations.take(toAddressKey(address));
  }

  /** For sign-ins, whose two steps have separate buckets: beginning many does not prevent finishing one. */
  takeForSignIn(step: 'begin' | 'finish', address: string): Promise<Allowance> {
    return this.#signIns.take(`${step}:${toAddressKey(address)}`);
  }
}
