import { isSandboxApp } from '@phds/catalog/sandbox';
import { toAddressKey } from '../domain/client-address.ts';
import { isSafeMethod } from '../domain/safe-methods.ts';
import type { BucketOptions } from './bucket.ts';
import { type Allowance, Limit } from './limit.ts';

export interface SurfaceLimitsOptions extends Pick<BucketOptions, 'redis' | 'onRefused'> {
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
    const { redis, onRefused } = options;
    const create = (name: string, perMinute: number) => new Limit({ name, perMinute, redis, onRefused });
    this.#client = create('client', options.clientPerMinute);
    this.#sandboxClient = create('client', options.sandboxClientPerMinute);
    this.#user = create('user', options.userPerMinute);
    this.#userChanges = create('user-changes', options.userChangesPerMinute);
    this.#costly = {
      'client-credentials': create('client-credentials', options.clientCredentialsPerMinute),
      registrations: create('registrations', options.registrationsPerMinute),
      previews: create('previews', options.previewsPerMinute),
      summaries: create('summaries', options.summariesPerMinute),
    };
    this.#anonymousAuthorizations = create(
      'anonymous-authorizations',
      options.anonymousAuthorizationsPerMinute,
    );
    this.#signIns = create('sign-ins', options.signInsPerMinute);
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
