import type { Config } from '../config.ts';
import { isSafeMethod } from '../domain/safe-methods.ts';
import { createNetworkNames, toAddressKey } from './addresses.ts';
import { type Bucket, type BucketOptions, createLeasingBucket } from './bucket.ts';
import { FailedAuthentications } from './failed-authentications.ts';
import { KnownClients } from './known-clients.ts';
import { UsedProofs } from './used-proofs.ts';

type Limited = Pick<BucketOptions, 'redis' | 'onRefused'>;

/** All limits of the gateway, by its settings. */
export function createLimits(config: Config, limited: Limited) {
  return {
    knownClients: new KnownClients(),
    failures: new FailedAuthentications({ ...limited, perMinute: config.LIMIT_AUTH_FAILURES_PER_MINUTE }),
    networkOf: createNetworkNames(config.SERVICE_PRIVATE_KEY),
    usedProofs: new UsedProofs(limited.redis),
    limits: createRequestLimits(config, limited),
    surfaceLimits: createSurfaceLimits(config, limited),
  };
}

/** The state of a limit, formatted for the header fields of the IETF draft. */
export interface Allowance {
  readonly allowed: boolean;
  /** Value of `RateLimit-Policy`. */
  readonly policy: string;
  /** Value of `RateLimit`. */
  readonly state: string;
  readonly retryAfterSeconds: number;
}

/** A limit with its public name. */
class Limit {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #policy: string;
  readonly #onRefused: BucketOptions['onRefused'];

  constructor(options: BucketOptions) {
    this.#bucket = createLeasingBucket(options);
    this.#name = options.name;
    this.#onRefused = options.onRefused;
    this.#policy = `"${options.name}";q=${options.perMinute};w=60`;
  }

  /** Counts one request for the key, or what a counted one costs beyond one: at most what it leaves of a full bucket. */
  async take(key: string, further?: number): Promise<Allowance> {
    const points = further === undefined ? 1 : Math.min(further, this.#bucket.perMinute - 1);
    const { allowed, remaining, resetSeconds } = await this.#bucket.take(key, points);
    if (!allowed) this.#onRefused?.(this.#name);
    return {
      allowed,
      policy: this.#policy,
      state: `"${this.#name}";r=${remaining};t=${resetSeconds}`,
      retryAfterSeconds: resetSeconds,
    };
  }
}

/** Limits of authenticated data requests. Never by address. */
export interface RequestLimits {
  /**
   * Counts one request against the limit of the app and user, then the user's over all apps, then the app's. A limit that refuses stops
   * the sequence: one app cannot use up a user's limit over all apps, and one user or leaked token cannot use up the app's limit. Returns
   * the state of the first limit, or of the limit that refused. `userId` is empty for a userless token, which skips the user's limit. `further`
   * is what a counted request costs beyond one.
   */
  take(clientId: string, userId: string, further?: number): Promise<Allowance>;
}

function createRequestLimits(config: Config, limited: Limited): RequestLimits {
  const create = (name: string, perMinute: number) => new Limit({ name, perMinute, ...limited });
  const ofAppUser = create('app-user', config.LIMIT_APP_USER_PER_MINUTE);
  // Keeps one person with many apps from using up the service.
  const ofUser = create('user-all-apps', config.LIMIT_USER_ALL_APPS_PER_MINUTE);
  const ofApp = create('app', config.LIMIT_APP_PER_MINUTE);
  return {
    async take(clientId, userId, further) {
      const appUser = await ofAppUser.take(`${clientId}:${userId}`, further);
      if (!appUser.allowed) return appUser;
      if (userId !== '') {
        const userAllApps = await ofUser.take(userId, further);
        if (!userAllApps.allowed) return userAllApps;
      }
      const app = await ofApp.take(clientId, further);
      return app.allowed ? appUser : app;
    },
  };
}

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
export type SurfaceLimits = ReturnType<typeof createSurfaceLimits>;

function createSurfaceLimits(config: Config, limited: Limited) {
  const create = (name: string, perMinute: number) => new Limit({ name, perMinute, ...limited });
  const client = create('client', config.LIMIT_CLIENT_PER_MINUTE);
  const user = create('user', config.LIMIT_USER_PER_MINUTE);
  const userChanges = create('user-changes', config.LIMIT_USER_CHANGES_PER_MINUTE);
  const costly: Readonly<Record<CostlyRequest, Limit>> = {
    'client-credentials': create('client-credentials', config.LIMIT_CLIENT_CREDENTIALS_PER_MINUTE),
    registrations: create('registrations', config.LIMIT_REGISTRATIONS_PER_MINUTE),
    previews: create('previews', config.LIMIT_PREVIEWS_PER_MINUTE),
    summaries: create('summaries', config.LIMIT_SUMMARIES_PER_MINUTE),
    'grant-lists': create('grant-lists', config.LIMIT_GRANT_LISTS_PER_MINUTE),
    usage: create('usage', config.LIMIT_USAGE_PER_MINUTE),
  };
  const anonymous = create('anonymous-authorizations', config.LIMIT_ANONYMOUS_AUTHORIZATIONS_PER_MINUTE);
  const publicClients = create('public-clients', config.LIMIT_PUBLIC_CLIENT_PER_MINUTE);
  const signIns = create('sign-ins', config.LIMIT_SIGN_INS_PER_MINUTE);
  return {
    takeForClient: (clientId: string) => client.take(clientId),
    /** Reads and changes have separate limits, so that reading lists cannot prevent a revocation. */
    takeForUser: (userId: string, method: string) => (isSafeMethod(method) ? user : userChanges).take(userId),
    /** `key` is the authenticated app or person. */
    takeForCostly: (request: CostlyRequest, key: string) => costly[request].take(key),
    /** For authorization requests without the app's secret. They may name any app, so only the address can be limited. */
    takeForAddress: (address: string) => anonymous.take(toAddressKey(address)),
    /** For an app without a secret. Everybody can call in its name, so one address cannot use up what others need. */
    takeForPublicClient: (clientId: string, address: string) =>
      publicClients.take(`${clientId}:${toAddressKey(address)}`),
    /** For sign-ins, whose two steps have separate buckets: beginning many does not prevent finishing one. */
    takeForSignIn: (step: 'begin' | 'finish', address: string) =>
      signIns.take(`${step}:${toAddressKey(address)}`),
  };
}
