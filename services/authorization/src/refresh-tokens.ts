import { createHmac, type KeyObject } from 'node:crypto';
import { RETRY_WINDOW_SECONDS, UNBOUND_RETRY_WINDOW_SECONDS } from '@phds/catalog/lifetimes';
import { formatScopeList } from '@phds/catalog/scopes';
import { base62 } from '@phds/service-kit/ids';
import { deriveSecret, equalHash, isSecret, newSecret, sha256 } from '@phds/service-kit/secrets';
import { type App, isPublic } from './app.ts';
import type { TokenFamily, TokenStore } from './token.ts';

// Refresh tokens have no rows. A token is the secret of its family (256 random bits, with prefix and checksum), the number of refreshes
// before it, and an HMAC of both with DERIVATION_KEY: `phds_rt_…_7_…`. The row of the family has a hash of the secret as its id, the number
// of the current token, its hash, and that of the one before. These two are recognised by their hashes, so a change of the key ends no
// connection, and a refresh after it can be repeated; older ones by their HMAC. So any token that was ever used is recognised without a
// row, and its successor can be computed again from it, as long as the key stays. After a change of the key the older ones from before
// are unknown: they do nothing, and end nothing.
//
// Who has the key and any token of a family can compute its others; who has the database or the key alone, or both, cannot.

const FORM = /^(phds_rt_[0-9A-Za-z]{49})_(0|[1-9][0-9]{0,8})_[0-9A-Za-z]{43}$/;

/** What a text in the form of a refresh token claims. */
interface ClaimedToken {
  readonly text: string;
  readonly secret: string;
  readonly familyId: string;
  readonly generation: number;
}

/** A refresh token that this service has issued, with its family as it is now. */
export interface RefreshToken extends ClaimedToken {
  readonly family: TokenFamily;
  /** Milliseconds since its use, by the clock of the database; null while it is the current one, and infinite once its successor was used. */
  readonly usedForMs: number | null;
}

/** The first refresh token of a new family. */
export function newRefreshToken(key: KeyObject): ClaimedToken {
  return toRefreshToken(key, newSecret('refresh_token'), 0);
}

function toRefreshToken(key: KeyObject, secret: string, generation: number): ClaimedToken {
  const head = `${secret}_${generation}`;
  const mac = base62(createHmac('sha256', key).update(`refresh token\0${head}`).digest());
  return { text: `${head}_${mac}`, secret, familyId: toFamilyId(secret), generation };
}

function toFamilyId(secret: string): string {
  return `fam_${base62(sha256(secret).subarray(0, 16))}`;
}

/** Null for a text in another form. */
export function findClaimed(text: string): ClaimedToken | null {
  const [, secret = '', generation = ''] = FORM.exec(text) ?? [];
  if (!isSecret('refresh_token', secret)) return null;
  return { text, secret, familyId: toFamilyId(secret), generation: Number(generation) };
}

/** Null for a token that was not issued for this family. */
export function verifyClaimed(
  key: KeyObject,
  claimed: ClaimedToken,
  family: TokenFamily,
): RefreshToken | null {
  const { text, secret, generation } = claimed;
  const age = family.generation - generation;
  if (age < 0) return null;
  const stored = [family.refreshHash, family.previousHash][age];
  const hash = stored ?? sha256(toRefreshToken(key, secret, generation).text);
  if (!equalHash(sha256(text), hash)) return null;
  const usedForMs = age > 1 ? Number.POSITIVE_INFINITY : family.rotatedForMs;
  return { ...claimed, family, usedForMs: age === 0 ? null : usedForMs };
}

/** Finds a refresh token, also a used one. Null for an unknown or forged one. */
export async function findRefreshToken(
  dependencies: { readonly tokens: Pick<TokenStore, 'findFamily'>; readonly derivationKey: KeyObject },
  text: string,
): Promise<RefreshToken | null> {
  const claimed = findClaimed(text);
  const family = claimed && (await dependencies.tokens.findFamily(claimed.familyId));
  return claimed && family && verifyClaimed(dependencies.derivationKey, claimed, family);
}

/** The tokens that a use of a refresh token yields, however often it is repeated. */
export interface Pair {
  readonly access: string;
  readonly refresh: ClaimedToken;
}

/** Workers of an app that refresh at the same time with different keys get the same refresh token, and access tokens of their own. */
export function derivePair(key: KeyObject, token: ClaimedToken, jkt: string | null): Pair {
  const input = jkt === null ? token.text : `${token.text}\0${jkt}`;
  return {
    access: deriveSecret('access_token', key, 'refresh:access', input),
    refresh: toRefreshToken(key, token.secret, token.generation + 1),
  };
}

/** The meaning of a refresh token presented by its owning client. */
export type RefreshMove =
  /** First use: creates the successor pair. */
  | 'rotate'
  /** Repetition after a lost response: returns the same pair. */
  | 'repeat'
  /** Repetition with another scope: refused without effect. */
  | 'other_scope'
  /** Reuse after the retry window: revokes the family. */
  | 'reuse'
  /** Expired, suspended, or of a dead family: refused without effect. */
  | 'dead';

/**
 * Judges a refresh token. The replicas' clocks may differ by more than the retry window, so the database measures it. `scope` is the
 * requested one, in the form of `rotatedScope`; none is the same as all.
 */
export function judgeRefresh(token: RefreshToken, app: App, scope: string, now: Date): RefreshMove {
  const { family, usedForMs } = token;
  if (family.revokedAt !== null || family.suspended) return 'dead';
  if (usedForMs === null) return family.expiresAt > now ? 'rotate' : 'dead';
  if (isPastRetry(token, app)) return 'reuse';
  const all = formatScopeList(family.scopes);
  return (family.rotatedScope || all) === (scope || all) ? 'repeat' : 'other_scope';
}

/** Whether its use was longer ago than a lost response is repeated. */
export function isPastRetry({ usedForMs, family }: RefreshToken, app: App): boolean {
  const isUnbound = isPublic(app) && family.jkt === null;
  const seconds = isUnbound ? UNBOUND_RETRY_WINDOW_SECONDS : RETRY_WINDOW_SECONDS;
  return usedForMs !== null && usedForMs > seconds * 1000;
}
