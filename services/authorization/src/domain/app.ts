import {
  ACCESS_TOKEN_SECONDS,
  PUBLIC_ACCESS_TOKEN_SECONDS,
  PUBLIC_CODE_SECONDS,
} from '@phds/catalog/lifetimes';
import type { Scope } from '@phds/catalog/scopes';

/** Status of an app. */
export type AppStatus =
  /** May authenticate; its tokens work. */
  | 'active'
  /** Refused everywhere; unexpired tokens work again once the app is active again. */
  | 'suspended'
  /** Grants, tokens, pending approvals, the secret and the keys so far are permanently dead. */
  | 'revoked';

/** Why an app is locked: an operator suspended it, or it waits for an operator's approval. */
export type AppLockKind = 'suspension' | 'approval';

/** An operator's lock. A locked app is never active, and only an operator lifts the lock. */
export interface AppLock {
  readonly kind: AppLockKind;
  /** For the developer; empty for an approval. */
  readonly reason: string;
  readonly since: Date;
}

/** `public`: an app on a device or in a page, which can keep no secret (a public client, RFC 6749 section 2.1). */
export const APPLICATION_TYPES = ['server', 'public'] as const;
export type ApplicationType = (typeof APPLICATION_TYPES)[number];

/** How an app authenticates itself (RFC 7591 section 2). The secret may be in the body as well. `none` is for public clients. */
export type TokenEndpointAuthMethod = 'client_secret_basic' | 'private_key_jwt' | 'none';

/** The settings that a developer chooses. Absent texts are empty. */
export interface AppSettings {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly Scope[];
  readonly description: string;
  /** Who makes the app. */
  readonly developerName: string;
  readonly homepageUrl: string;
  readonly privacyPolicyUrl: string;
  readonly requirePkce: boolean;
  /** With `client_secret_basic` the keys work too, if there are any; with `private_key_jwt` they alone. */
  readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  /** Public keys as a JSON Web Key Set, registered or fetched from `jwksUri`. */
  readonly jwks: string;
  /** Empty for registered keys. */
  readonly jwksUri: string;
  /** Whether the app gets no token without a DPoP proof (RFC 9449 section 5.2). */
  readonly dpopBoundAccessTokens: boolean;
  /** Whether its authorization requests have to be pushed, by the authenticated app (RFC 9126 section 6). */
  readonly requirePushedAuthorizationRequests: boolean;
}

/** What an operator approves: all but how the app and this service recognise each other. */
export const APPROVED_SETTINGS = [
  'name',
  'redirectUris',
  'scopes',
  'description',
  'developerName',
  'homepageUrl',
  'privacyPolicyUrl',
] as const satisfies readonly (keyof AppSettings)[];

/** What became of `jwksUri`. */
export interface KeyFetch {
  /** When the keys were fetched; of keys from before the first fetch, when they were replaced by it. Null without either. */
  readonly jwksFetchedAt: Date | null;
  /** When a fetch was last begun; null before the first. */
  readonly jwksAskedAt: Date | null;
  /** Why the keys were not fetched; empty after a success and without `jwksUri`. */
  readonly jwksFailure: string;
}

/** The app's state in the consent ledger, which is authoritative. Copies here are only replaced by newer ones. */
export interface LedgerState {
  readonly status: AppStatus;
  /** Increases when the app is revoked; everything issued in an older epoch is dead. */
  readonly epoch: number;
  /** Increases with every change of status. */
  readonly revision: number;
}

/** The state after a change. */
export interface ChangedState extends LedgerState {
  readonly statusChangedAt: Date;
  readonly lock: AppLock | null;
}

/** A registered app. */
export interface App extends AppSettings, KeyFetch {
  readonly clientId: string;
  /** User id of the developer. */
  readonly ownerId: string;
  readonly applicationType: ApplicationType;
  readonly status: AppStatus;
  readonly epoch: number;
  readonly ledgerRevision: number;
  readonly statusChangedAt: Date;
  readonly lock: AppLock | null;
  /** Empty while the app has no secret. */
  readonly secretLast4: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const FETCHED_KEYS_MS = 24 * 60 * 60 * 1000;

/** The keys that assertions are verified with: fetched ones for a day after they were fetched. */
export function usableKeysOf(
  { jwks, jwksUri, jwksFetchedAt }: Pick<App, 'jwks' | 'jwksUri' | 'jwksFetchedAt'>,
  now: Date,
): string {
  const age = now.getTime() - (jwksFetchedAt?.getTime() ?? Number.NEGATIVE_INFINITY);
  return jwksUri === '' || age < FETCHED_KEYS_MS ? jwks : '';
}

type Typed = Pick<App, 'applicationType'>;

/** Whether the app can keep no secret (RFC 6749 section 2.1). Everybody may know its client id and call in its name. */
export function isPublic({ applicationType }: Typed): boolean {
  return applicationType === 'public';
}

/** What the deployment does with apps without a secret: `bound` demands DPoP proofs of them. */
export const PUBLIC_APPS = ['allowed', 'bound', 'refused'] as const;
export type PublicApps = (typeof PUBLIC_APPS)[number];

/** How long a code lives, which the settings of the service limit too. */
export function codeSecondsOf(app: Typed, limit: number): number {
  return isPublic(app) ? Math.min(limit, PUBLIC_CODE_SECONDS) : limit;
}

/** How long an access token of the app lives. */
export function accessSecondsOf(app: Typed): number {
  return isPublic(app) ? PUBLIC_ACCESS_TOKEN_SECONDS : ACCESS_TOKEN_SECONDS;
}
