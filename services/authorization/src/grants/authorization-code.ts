import { createHash, type KeyObject } from 'node:crypto';
import type { IssueTokenRequest } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import type { GrantFacts } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { Clock } from '@phds/service-kit/clock';
import { invalidRequest, unauthorized } from '@phds/service-kit/errors';
import { equalHash, isSecret, newSecret, sha256 } from '@phds/service-kit/secrets';
import { type App, isPublic } from '../app.ts';
import {
  type AuthorizationCode,
  type AuthorizationStore,
  CODE_MAX_FAILED_ATTEMPTS,
  findSettingsFault,
  isCodeVerifier,
  isUsable,
} from '../authorization-request.ts';
import type { ConsentLedger } from '../clients/consent.ts';
import { missingDpopProof } from '../possession.ts';
import { newRefreshToken } from '../refresh-tokens.ts';
import { type TokenStore, toAccessExpiry, toFamilyExpiry, widenScopes } from '../token.ts';
import type { FamilyRevocation } from '../token-revocation.ts';
import {
  type IssuedTokens,
  invalidGrant,
  ownInvalidGrant,
  requireLiveGrant,
  requireSeconds,
  requireWorkingScopes,
  type TokenGrant,
} from './token-endpoint.ts';

interface CodeGrantDependencies {
  readonly authorizations: AuthorizationStore;
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly revokeFamily: FamilyRevocation;
  readonly clock: Clock;
  readonly derivationKey: KeyObject;
}

/**
 * The authorization_code grant (RFC 6749 section 4.1.3). The order of checks matters: another client's attempt
 * ends before anything is counted; a used code is a replay whatever else was sent; the ledger is asked before anything is consumed;
 * one conditional update decides which attempt wins.
 */
export function createAuthorizationCodeGrant(dependencies: CodeGrantDependencies): TokenGrant {
  const { authorizations, ledger, clock } = dependencies;

  return async (app, request, jkt) => {
    const hash = parseCode(request);
    const code = await authorizations.findCode(hash);
    if (code === null || code.clientId !== app.clientId) throw invalidGrant('unknown or foreign code');
    const mismatch = findMismatch(code, request, jkt);
    if (code.consumedAt !== null) return punishReplay(dependencies, code, app, mismatch);
    if (!isUsable(code, clock.now())) throw ownInvalidGrant(describeUnusable(code));
    requireForm(code, request, jkt);
    if (mismatch !== null) {
      await authorizations.countFailedAttempt(hash);
      throw ownInvalidGrant(`${mismatch} ${describeAttempt(code.failedAttempts + 1)}`);
    }
    if (code.appEpoch !== app.epoch) throw ownInvalidGrant('The app was revoked after the code was issued.');
    requireAllowed(code, app);
    const { clientId, appEpoch, grantId, userId } = code;
    const grant = await requireLiveGrant(ledger, { clientId, appEpoch, grantId }, userId);
    return issue(dependencies, { code, app, grant, jkt });
  };
}

/** The hash of the presented code. */
function parseCode({ code, redirectUri }: IssueTokenRequest): AuthorizationCode['hash'] {
  if (!code) throw invalidRequest('code', 'is required');
  if (!redirectUri) throw invalidRequest('redirect_uri', 'is required');
  if (!isSecret('authorization_code', code)) throw invalidGrant('not a code');
  return sha256(code);
}

/** What is refused here does not count as an attempt. */
function requireForm(
  { dpopJkt }: AuthorizationCode,
  { codeVerifier }: IssueTokenRequest,
  jkt: string | null,
): void {
  // Only the app knows the code, and forgot the proof.
  if (dpopJkt !== null && jkt === null) throw missingDpopProof('the code is bound to a key');
  if (!codeVerifier || isCodeVerifier(codeVerifier)) return;
  // Its hash may fit, but no app that follows RFC 7636 section 4.1 sends it.
  throw invalidRequest('code_verifier', 'must have 43 to 128 characters of A-Z a-z 0-9 - . _ ~');
}

/** The app's settings may have been tightened since the request was opened or approved. */
function requireAllowed(code: AuthorizationCode, app: App): void {
  const fault = findSettingsFault(code, app);
  if (fault !== null) throw ownInvalidGrant(`${fault} Ask the person again.`);
}

interface Admitted {
  readonly code: AuthorizationCode;
  readonly app: App;
  readonly grant: GrantFacts;
  readonly jkt: string | null;
}

async function issue(
  dependencies: CodeGrantDependencies,
  { code, app, grant, jkt }: Admitted,
): Promise<IssuedTokens> {
  const scopes = code.includeGrantedScopes ? widenScopes(code.scopes, grant) : code.scopes;
  const working = requireWorkingScopes(scopes, grant);
  const now = dependencies.clock.now();
  const expiresAt = toAccessExpiry(app, now, grant);
  const expiresInSeconds = requireSeconds(expiresAt, now);
  const accessToken = newSecret('access_token');
  const { text: refreshToken, familyId } = newRefreshToken(dependencies.derivationKey);
  const won = await dependencies.tokens.exchange({
    codeHash: code.hash,
    scopes,
    familyId,
    familyExpiresAt: toFamilyExpiry(now, grant),
    accessHash: sha256(accessToken),
    accessExpiresAt: expiresAt,
    jkt,
    familyJkt: isPublic(app) ? jkt : null,
    refreshHash: sha256(refreshToken),
    now,
  });
  if (!won) return explainLoss(dependencies, code.hash, app);
  return {
    ...{ accessToken, expiresInSeconds, refreshToken },
    dpopBound: jkt !== null,
    scopes: working,
    askedWords: code.askedWords,
    grantId: code.grantId,
    sub: grant.sub,
  };
}

/** Something was faster: another exchange, which makes this one a replay, or the end of the code or the app. */
async function explainLoss(dependencies: CodeGrantDependencies, hash: Uint8Array, app: App): Promise<never> {
  const code = await dependencies.authorizations.findCode(hash);
  if (code !== null && code.consumedAt !== null) return punishReplay(dependencies, code, app, null);
  if (code !== null && isUsable(code, dependencies.clock.now())) throw unauthorized('app no longer active');
  throw code === null ? invalidGrant('erased meanwhile') : ownInvalidGrant(describeUnusable(code));
}

/**
 * The replay of a code ends the tokens of its first use (RFC 6749 section 4.1.2). Everybody can call in the name of a public app, so there
 * it takes what only the app and the first user of the code can have: the verifier, and the key if the code is bound to one.
 */
async function punishReplay(
  { revokeFamily }: CodeGrantDependencies,
  { familyId }: AuthorizationCode,
  app: App,
  mismatch: string | null,
): Promise<never> {
  if (isPublic(app) && mismatch !== null) throw invalidGrant('replay without the verifier');
  if (familyId !== null) await revokeFamily(familyId);
  throw ownInvalidGrant('The code was used before. The tokens that it was exchanged for are revoked.');
}

function describeUnusable({ failedAttempts, suspended }: AuthorizationCode): string {
  if (failedAttempts >= CODE_MAX_FAILED_ATTEMPTS) {
    return `The code was burned by ${CODE_MAX_FAILED_ATTEMPTS} failed attempts. Ask for a new authorization.`;
  }
  return suspended ? 'The code was suspended. Ask for a new authorization.' : 'The code has expired.';
}

function describeAttempt(attempt: number): string {
  const burned =
    attempt >= CODE_MAX_FAILED_ATTEMPTS ? 'The code is burned: ask for a new authorization.' : '';
  return `Failed attempt ${attempt} of ${CODE_MAX_FAILED_ATTEMPTS}. ${burned}`.trimEnd();
}

/** The first mismatch between the exchange and the authorization request; null when everything matches. */
function findMismatch(
  code: AuthorizationCode,
  { redirectUri, codeVerifier: verifier }: IssueTokenRequest,
  jkt: string | null,
): string | null {
  if (code.redirectUri !== redirectUri) return 'redirect_uri differs from that of the authorization request.';
  if (code.dpopJkt !== null && code.dpopJkt !== jkt) return 'The code is bound to another key.';
  const { codeChallenge: challenge } = code;
  if (challenge === null) return verifier ? 'code_verifier was sent, but no code_challenge before.' : null;
  if (!verifier) return 'code_verifier is missing.';
  return matchesChallenge(challenge, verifier) ? null : 'code_verifier does not fit the code_challenge.';
}

function matchesChallenge(challenge: string, verifier: string): boolean {
  if (!isCodeVerifier(verifier)) return false;
  const computed = createHash('sha256').update(verifier).digest('base64url');
  return equalHash(Buffer.from(computed), Buffer.from(challenge));
}
