import { isSandboxApp } from '@phds/catalog/sandbox';
import { toAddressKey } from '../domain/client-address.ts';
import { isSafeMethod } from '../domain/safe-methods.ts';
import type { BucketOptions } from './bucket.ts';
import { type Allowance, Limit } from './limit.ts';

/** The settings of these limits. */
export type SurfaceLimitSettings = Readonly<
  Record<
    `LIMIT_${
      | 'CLIENT'
      | 'SANDBOX_CLIENT'
      | 'USER'
      | 'USER_CHANGES'
      | 'CLIENT_CREDENTIALS'
      | 'REGISTRATIONS'
      | 'PREVIEWS'
      | 'SUMMARIES'
      | 'GRANT_LISTS'
      | 'USAGE'
      | 'ANONYMOUS_AUTHORIZATIONS'
      | 'SIGN_INS'}_PER_MINUTE`,
    number
  >
>;

/** Expensive requests, which have a limit of their own besides that of their surface. */
export type CostlyRequest =
  | 'client-credentials'
  | 'registrations'
  | 'previews'
  | 'summaries'
  | 'grant-lists'
  | 'usage';

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

  constructor(settings: SurfaceLimitSettings, limited: Pick<BucketOptions, 'redis' | 'onRefused'>) {
    const create = (name: string, perMinute: number) => new Limit({ name, perMinute, ...limited });
    this.#client = create('client', settings.LIMIT_CLIENT_PER_MINUTE);
    this.#sandboxClient = create('client', settings.LIMIT_SANDBOX_CLIENT_PER_MINUTE);
    this.#user = create('user', settings.LIMIT_USER_PER_MINUTE);
    this.#userChanges = create('user-changes', settings.LIMIT_USER_CHANGES_PER_MINUTE);
    this.#costly = {
      'client-credentials': create('client-credentials', settings.LIMIT_CLIENT_CREDENTIALS_PER_MINUTE),
      registrations: create('registrations', settings.LIMIT_REGISTRATIONS_PER_MINUTE),
      previews: create('previews', settings.LIMIT_PREVIEWS_PER_MINUTE),
      summaries: create('summaries', settings.LIMIT_SUMMARIES_PER_MINUTE),
      'grant-lists': create('grant-lists', settings.LIMIT_GRANT_LISTS_PER_MINUTE),
      usage: create('usage', settings.LIMIT_USAGE_PER_MINUTE),
    };
    this.#anonymousAuthorizations = create(
      'anonymous-authorizations',
      settings.LIMIT_ANONYMOUS_AUTHORIZATIONS_PER_MINUTE,
    );
    this.#signIns = create('sign-ins', settings.LIMIT_SIGN_INS_PER_MINUTE);
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
