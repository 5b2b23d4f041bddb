import type { KeyObject } from 'node:crypto';
import { parseAskedScopes } from '@phds/catalog/fhir/words';
import { formatScopeList, type Scope } from '@phds/catalog/scopes';
import type { GrantFacts } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest, unavailable } from '@phds/service-kit/errors';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { sha256 } from '@phds/service-kit/secrets';
import { type App, isPublic } from '../app.ts';
import { requireKnown } from '../authorization-request.ts';
import type { ConsentLedger } from '../clients/consent.ts';
import { missingDpopProof } from '../possession.ts';
import {
  derivePair,
  findRefreshToken,
  judgeRefresh,
  type Pair,
  type RefreshMove,
  type RefreshToken,
} from '../refresh-tokens.ts';
import {
  type AccessToken,
  type TokenFamily,
  type TokenStore,
  toAccessExpiry,
  toFamilyExpiry,
  toWorkingScopes,
  widenScopes,
} from '../token.ts';
import type { FamilyRevocation } from '../token-revocation.ts';
import {
  FAMILY_REVOKED,
  type IssuedTokens,
  invalidGrant,
  ownInvalidGrant,
  requireLiveGrant,
  requireSeconds,
  requireWorkingScopes,
  type TokenGrant,
} from './token-endpoint.ts';

interface RefreshDependencies {
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly revokeFamily: FamilyRevocation;
  readonly clock: Clock;
  readonly guard: Pick<RestoreGuard, 'acknowledge'>;
  readonly derivationKey: KeyObject;
  /** Address of the FHIR interface. */
  readonly fhirBase: string;
}

/**
 * The refresh_token grant (RFC 6749 section 6). Every use rotates, and a use whose answer was lost can be repeated. One conditional
 * statement decides which of several uses at the same time is the first; the others then see it.
 */
export function createRefreshTokenGrant(dependencies: RefreshDependencies): TokenGrant {
  const { clock, ledger, derivationKey, fhirBase } = dependencies;

  return async (app, { refreshToken, scope }, jkt) => {
    if (!refreshToken) throw invalidRequest('refresh_token', 'is required');
    const token = await findOwn(dependencies, app, refreshToken, jkt);
    const { family } = token;
    // Final states are judged first, without the ledger.
    const move = judgeRefresh(token, app, '', clock.now());
    await refuseEnded(dependencies, token, move);

    const { clientId, appEpoch, grantId, id: familyId, userId } = family;
    const grant = await requireLiveGrant(ledger, { clientId, appEpoch, grantId, familyId }, userId);
    const all = family.grows ? widenScopes(family.scopes, grant) : family.scopes;
    requireWorkingScopes(all, grant);
    const named = toNamed(scope, { app, askedWords: family.askedWords, fhirBase });
    const wanted = { pair: derivePair(derivationKey, token, jkt), jkt, app, ...named, all, grant };
    if (move === 'rotate') {
      // Not checked for a repeat: one that names the same scopes gets its pair even if a scope has been withdrawn since.
      const answer = await issue(dependencies, token, wanted, requireShared(wanted));
      if (answer !== null) return answer;
    }
    // Another use was faster, or was first: judged by the state after it.
    return repeat(dependencies, await findOwn(dependencies, app, refreshToken, jkt), wanted);
  };
}

async function repeat(
  dependencies: RefreshDependencies,
  token: RefreshToken,
  wanted: Wanted,
): Promise<IssuedTokens> {
  const { tokens, clock, guard } = dependencies;
  const move = judgeRefresh(token, wanted.app, toRequestedScope(wanted), clock.now());
  await refuseEnded(dependencies, token, move);
  if (move === 'rotate') throw unavailable(new Error('the token could not be used a moment ago'));
  if (move === 'other_scope') {
    throw new AppError('invalid_scope', 'A repeated refresh has to ask for the same scope.');
  }
  const access = await tokens.findAccessToken(sha256(wanted.pair.access));
  if (access === null) {
    // The first use was with another key.
    const answer = await issue(dependencies, token, wanted, wanted.named ?? wanted.all);
    if (answer !== null) return answer;
    const later = await findOwn(dependencies, wanted.app, token.text, wanted.jkt);
    await refuseEnded(dependencies, later, judgeRefresh(later, wanted.app, '', clock.now()));
    throw invalidGrant('the family has expired, or the first use was with another DERIVATION_KEY');
  }
  // Another call, perhaps of another process, has committed the use, and its proof was perhaps never answered.
  await guard.acknowledge();
  return toAnswer(token, wanted, access, clock.now());
}

/** Reuse ends the family. */
async function refuseEnded(
  { revokeFamily }: RefreshDependencies,
  token: RefreshToken,
  move: RefreshMove,
): Promise<void> {
  if (move === 'dead') throw ownInvalidGrant(describeDead(token));
  if (move !== 'reuse') return;
  await revokeFamily(token.familyId);
  throw ownInvalidGrant(
    'The refresh token was used before. It and the tokens that came from it are revoked.',
  );
}

/** Reads `scope`. Words in it are the words of the answer. */
function toNamed(
  scope: string | undefined,
  { app, askedWords, fhirBase }: Pick<Wanted, 'app' | 'askedWords'> & { readonly fhirBase: string },
): Pick<Wanted, 'named' | 'askedWords'> {
  if (!scope) return { named: null, askedWords };
  const asked = parseAskedScopes(scope, { base: fhirBase, registered: app.scopes });
  return { named: requireKnown(asked), askedWords: asked.words.length > 0 ? asked.words : askedWords };
}

async function findOwn(
  dependencies: RefreshDependencies,
  app: App,
  refreshToken: string,
  jkt: string | null,
): Promise<RefreshToken> {
  const known = await findRefreshToken(dependencies, refreshToken);
  if (known === null || known.family.clientId !== app.clientId) {
    throw invalidGrant('unknown or foreign refresh token');
  }
  if (known.family.appEpoch !== app.epoch)
    throw ownInvalidGrant('The app was revoked after the token was issued.');
  requireKey(known.family, app, jkt);
  return known;
}

/** Comes before a token is judged, so that nobody ends a family by reusing a token without the key that it is bound to. */
function requireKey(family: TokenFamily, app: App, jkt: string | null): void {
  const { jkt: only } = family;
  if (only !== null && jkt !== null && only !== jkt) throw invalidGrant('the key of somebody else');
  if (isPublic(app) && only === null) {
    if (!app.dpopBoundAccessTokens) return;
    throw ownInvalidGrant('The tokens began without a key, which the app now needs. Ask the person again.');
  }
  if (family.isBound && jkt === null) throw missingDpopProof('the tokens are bound to a key');
}

function describeDead({ family }: RefreshToken): string {
  if (family.revokedAt !== null) return FAMILY_REVOKED;
  return family.suspended
    ? 'The refresh token was suspended. Ask for a new authorization.'
    : 'The refresh token has expired.';
}

/** Stores an access token of these scopes, and the generation after that of the token. Null if the family is another by now. */
async function issue(
  { tokens, clock }: RefreshDependencies,
  token: RefreshToken,
  wanted: Wanted,
  scopes: readonly Scope[],
): Promise<IssuedTokens | null> {
  const { pair, jkt, app, grant } = wanted;
  const now = clock.now();
  const expiresAt = toAccessExpiry(app, now, grant);
  const answer = toAnswer(token, wanted, { scopes, expiresAt }, now);
  const isStored = await tokens.rotate({
    familyId: token.familyId,
    seenGeneration: token.family.generation,
    generation: pair.refresh.generation,
    refreshHash: sha256(pair.refresh.text),
    scopes: wanted.all,
    scope: toRequestedScope(wanted),
    familyExpiresAt: toFamilyExpiry(now, grant),
    accessHash: sha256(pair.access),
    accessScopes: scopes,
    accessExpiresAt: expiresAt,
    jkt,
    now,
  });
  return isStored ? answer : null;
}

function requireShared({ named, all, grant }: Wanted): readonly Scope[] {
  if (named !== null && toWorkingScopes(named, grant).length < named.length) {
    throw new AppError('invalid_scope', 'The scope exceeds what the person shares.');
  }
  if (named?.some((scope) => !all.includes(scope))) {
    throw new AppError('invalid_scope', 'The scope exceeds what the tokens began with.');
  }
  return named ?? all;
}

interface Wanted {
  readonly pair: Pair;
  /** The key that the access token gets bound to; null for a bearer token. */
  readonly jkt: string | null;
  readonly app: App;
  /** The scopes that the request names, or null. A first use is refused if one of them does not work. */
  readonly named: readonly Scope[] | null;
  /** How the answer names scopes: as the request does, or else as the family began. */
  readonly askedWords: readonly string[];
  /** Those of the family, including what the grant has lost; of a family that grows, with all that the grant has now. */
  readonly all: readonly Scope[];
  readonly grant: GrantFacts;
}

/** Identifies what was requested. Does not depend on the grant, so that a repeat is recognised when the grant has changed since. */
function toRequestedScope({ named }: Wanted): string {
  return formatScopeList(named ?? []);
}

function toAnswer(
  token: RefreshToken,
  { pair, jkt, grant, askedWords }: Wanted,
  { scopes, expiresAt }: Pick<AccessToken, 'scopes' | 'expiresAt'>,
  now: Date,
): IssuedTokens {
  return {
    accessToken: pair.access,
    expiresInSeconds: requireSeconds(expiresAt, now),
    refreshToken: pair.refresh.text,
    dpopBound: jkt !== null,
    scopes: requireWorkingScopes(scopes, grant),
    askedWords,
    grantId: token.family.grantId,
    sub: grant.sub,
  };
}
