import { createHash } from 'node:crypto';
import type { Clock } from '@phds/service-kit/clock';
import { invalidRequest, unauthorized } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { equalHash, isSecret, newSecret, sha256 } from '@phds/service-kit/secrets';
import type { App } from '../domain/app.ts';
import { findSettingsFault } from '../domain/authorization-request.ts';
import type { AuthorizationCode } from '../domain/code.ts';
import { isCodeVerifier, isUsable } from '../domain/code.ts';
import type { GrantFacts } from '../domain/liveness.ts';
import { toAccessExpiry, toFamilyExpiry } from '../domain/token.ts';
import type { FamilyRevocation } from './family-revocation.ts';
import type { AuthorizationStore, ConsentLedger, TokenStore } from './ports.ts';
import type { IssuedTokens, TokenGrant, TokenParameters } from './token-grants.ts';
import {
  invalidGrant,
  requireLiveGrant,
  requireSeconds,
  requireWorkingScopes,
  toScopeText,
} from './token-grants.ts';

export interface CodeExchangeDependencies {
  readonly authorizations: AuthorizationStore;
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly revokeFamily: FamilyRevocation;
  readonly clock: Clock;
}

/**
 * The authorization_code grant (contract section 3, RFC 6749 section 4.1.3). The order of checks is part of the promise:
 * another client's attempt ends before anything is counted; a used code is a replay whatever else was sent; the ledger
 * is asked before anything is consumed; one conditional update decides who wins.
 */
export function createCodeExchange(dependencies: CodeExchangeDependencies): TokenGrant {
  const { authorizations, ledger, clock } = dependencies;

  return async (app, parameters) => {
    const { codeText, redirectUri } = requireParameters(parameters);
    if (!isSecret('authorization_code', codeText)) throw invalidGrant('not a code');
    const hash = sha256(codeText);
    const code = await authorizations.findCode(hash);
    if (code === null || code.clientId !== app.clientId) throw invalidGrant('unknown or foreign code');
    if (code.consumedAt !== null) return punishReplay(dependencies, code);
    if (!isUsable(code, clock.now())) throw invalidGrant('code expired or burned');
    if (code.redirectUri !== redirectUri || !matchesChallenge(code.codeChallenge, parameters.codeVerifier)) {
      await authorizations.countFailedAttempt(hash);
      throw invalidGrant('redirect_uri or code_verifier');
    }
    if (code.appEpoch !== app.epoch) throw invalidGrant('code of a former life of the app');
    requireAllowed(code, app);
    const { clientId, appEpoch, grantId, userId } = code;
    const grant = await requireLiveGrant(ledger, { clientId, appEpoch, grantId, familyId: null }, userId);
    return issue(dependencies, code, grant);
  };
}

/** The app's settings may have been tightened since the request was opened or approved. */
function requireAllowed(code: AuthorizationCode, app: App): void {
  const fault = findSettingsFault(code, app);
  if (fault !== null) throw invalidGrant('settings of the app', `${fault} Ask the person again.`);
}

async function issue(
  dependencies: CodeExchangeDependencies,
  code: AuthorizationCode,
  grant: GrantFacts,
): Promise<IssuedTokens> {
  const { clientId, userId, grantId, appEpoch, scopes } = code;
  const scope = toScopeText(requireWorkingScopes(scopes, grant));
  const now = dependencies.clock.now();
  const expiresAt = toAccessExpiry(now, grant.expiresAt);
  const expiresInSeconds = requireSeconds(expiresAt, now);
  const accessToken = newSecret('access_token');
  const refreshToken = newSecret('refresh_token');
  const familyExpiresAt = toFamilyExpiry(now, grant.expiresAt);
  const won = await dependencies.tokens.exchange({
    codeHash: code.hash,
    family: { id: newId('fam'), clientId, userId, grantId, appEpoch, expiresAt: familyExpiresAt },
    access: { hash: sha256(accessToken), clientId, scopes, appEpoch, issuedAt: now, expiresAt },
    refreshHash: sha256(refreshToken),
    now,
  });
  if (!won) return explainLoss(dependencies, code.hash);
  return { accessToken, expiresInSeconds, refreshToken, scope, grantId };
}

/** Something was faster: another exchange, which makes this one a replay, or the end of the code or of the app. */
async function explainLoss(dependencies: CodeExchangeDependencies, hash: Uint8Array): Promise<never> {
  const code = await dependencies.authorizations.findCode(hash);
  if (code !== null && code.consumedAt !== null) return punishReplay(dependencies, code);
  if (code !== null && isUsable(code, dependencies.clock.now())) throw unauthorized('app no longer active');
  throw invalidGrant('code ended meanwhile');
}

async function punishReplay(
  { revokeFamily }: CodeExchangeDependencies,
  { familyId }: AuthorizationCode,
): Promise<never> {
  if (familyId !== null) await revokeFamily(familyId);
  throw invalidGrant('code replayed');
}

function requireParameters({ code, redirectUri }: TokenParameters): {
  codeText: string;
  redirectUri: string;
} {
  if (!code) throw invalidRequest('code', 'is required');
  if (!redirectUri) throw invalidRequest('redirect_uri', 'is required');
  return { codeText: code, redirectUri };
}

/** A verifier is needed when there was a challenge, and out of place when there was none. */
function matchesChallenge(challenge: string | null, verifier: string | undefined): boolean {
  if (challenge === null) return !verifier;
  if (!verifier || !isCodeVerifier(verifier)) return false;
  const computed = createHash('sha256').update(verifier).digest('base64url');
  return equalHash(Buffer.from(computed), Buffer.from(challenge));
}
