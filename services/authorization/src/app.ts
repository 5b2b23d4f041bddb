import { PROFILE_FIELDS, type Profile, type ProfileField } from '@phds/catalog/app-profile';
import {
  ACCESS_TOKEN_SECONDS,
  PUBLIC_ACCESS_TOKEN_SECONDS,
  PUBLIC_CODE_SECONDS,
} from '@phds/catalog/lifetimes';
import type { Scope } from '@phds/catalog/scopes';
import type { App as AppRow } from './store/generated/client.ts';

/** A registered app, as it is stored. */
export interface App
  extends Profile,
    Omit<AppRow, 'profile' | 'scopes' | 'secretHash' | 'secretRestoreNumber' | 'keysRestoreNumber'> {
  readonly scopes: readonly Scope[];
  readonly secretHash: Uint8Array | null;
}

/** `public`: an app on a device or in a page, which can keep no secret (a public client, RFC 6749 section 2.1). */
export const APPLICATION_TYPES = ['server', 'public'] as const;
export type ApplicationType = (typeof APPLICATION_TYPES)[number];

/** The settings that a developer chooses. Absent texts are empty. */
export type AppSettings = Pick<
  App,
  | ProfileField
  | 'redirectUris'
  | 'scopes'
  | 'requirePkce'
  | 'tokenEndpointAuthMethod'
  | 'jwks'
  | 'jwksUri'
  | 'dpopBoundAccessTokens'
  | 'requirePushedAuthorizationRequests'
>;

/** What an operator approves: all but how the app and this service recognise each other. */
export const APPROVED_SETTINGS = [
  ...PROFILE_FIELDS,
  'redirectUris',
  'scopes',
] as const satisfies readonly (keyof AppSettings)[];

/** What became of `jwksUri`. */
export type KeyFetch = Pick<App, 'jwksFetchedAt' | 'jwksAskedAt' | 'jwksFailure'>;

/** A copy of the app's state in the consent ledger, which is authoritative; only replaced by a newer one. */
export type LedgerState = Pick<
  App,
  'status' | 'epoch' | 'ledgerRevision' | 'statusChangedAt' | 'lockKind' | 'lockReason' | 'lockedAt'
>;

/** The operator's lock, or null. A locked app is never active, and only an operator lifts the lock. */
export function lockOf({ lockKind: kind, lockReason: reason, lockedAt: since }: LedgerState) {
  return kind === null ? null : { kind, reason: reason ?? '', since };
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
