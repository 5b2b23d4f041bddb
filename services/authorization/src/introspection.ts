import type { KeyObject } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { SCOPE_NAMES, type Scope } from '@phds/catalog/scopes';
import {
  type IntrospectOwnTokenRequest,
  type IntrospectOwnTokenResponseSchema,
  type IntrospectRequest,
  type IntrospectResponseSchema,
  TokenStatus,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { type GrantFacts, GrantStatus, type Liveness } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { isSecret, sha256 } from '@phds/service-kit/secrets';
import type { AssertionSigner } from '@phds/service-kit/trust/access-assertion';
import type { App } from './app.ts';
import { type ClientAuthentication, inNameOf } from './client-authentication.ts';
import type { ConsentLedger, LivenessQuery } from './clients/consent.ts';
import { findRefreshToken } from './refresh-tokens.ts';
import {
  type AccessToken,
  describeAccess,
  findActiveGrant,
  judgeAccessToken,
  parseTokenHash,
  type TokenStore,
  toLivenessQuery,
  toWorkingScopes,
} from './token.ts';

/**
 * Introspection for the gateway and other services: one look-up here and one call to the ledger. Whether consent covers an endpoint
 * is judged by the caller.
 */
export function createIntrospection(dependencies: {
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly clock: Clock;
  readonly sign: AssertionSigner;
}) {
  const { tokens, ledger, clock, sign } = dependencies;

  async function checkLedger(token: AccessToken): Promise<Liveness | null> {
    try {
      return await ledger.checkLiveness(toLivenessQuery(token));
    } catch (error) {
      // This error is not about the token. No data is released without a record, and the record step asks the ledger again.
      if (error instanceof AppError && (error.reason === 'unavailable' || error.reason === 'internal'))
        return null;
      throw error;
    }
  }

  async function signAssertion(token: AccessToken, grant: GrantFacts | undefined): Promise<string> {
    const { userId, grantId, familyId, clientId, scopes, hash, expiresAt, jkt } = token;
    if (userId === null || grantId === null || familyId === null) return '';
    return sign({
      clientId,
      userId,
      grantId,
      familyId,
      scopes,
      tokenHash: Buffer.from(hash).toString('base64url'),
      tokenExpiresAt: Math.floor(expiresAt.getTime() / 1000),
      dataFrom: grant?.dataFrom || null,
      sub: grant?.sub || null,
      jkt,
    });
  }

  return async (request: IntrospectRequest): Promise<MessageInitShape<typeof IntrospectResponseSchema>> => {
    const hash = findTokenHash(request);
    const token = hash && (await tokens.findAccessToken(hash));
    if (token === null) return { status: TokenStatus.UNKNOWN };
    const jkt = token.jkt ?? '';
    const state = judgeAccessToken(token, clock.now());
    if (state === 'expired') return { status: TokenStatus.EXPIRED, jkt };
    const liveness = state === 'live' ? await checkLedger(token) : null;
    if (state === 'dead' || (liveness !== null && !isAlive(token, liveness)))
      return { status: TokenStatus.DEAD };
    const grant = token.userId === null ? undefined : liveness?.grant;
    const principal = toPrincipal(token, grant);
    const assertion = await signAssertion(token, grant);
    // Without the ledger the record step decides, which refuses without it too.
    return { status: TokenStatus.LIVE, principal, assertion, ledgerChecked: liveness !== null, jkt };
  };
}

function toPrincipal(token: AccessToken, grant: GrantFacts | undefined) {
  const { clientId, userId, grantId, familyId, scopes, expiresAt } = token;
  return {
    clientId,
    userId: userId ?? '',
    grantId: grantId ?? '',
    familyId: familyId ?? '',
    scopes: [...scopes],
    expiresAt: timestampFromDate(expiresAt),
    // Only the assertion has the id of the person for the app.
    ...(grant && { grant: { ...grant, sub: '' } }),
  };
}

/** The hash that a request has, or that of its token; null for a text that is no access token. */
function findTokenHash({ tokenHash, token }: IntrospectRequest): Uint8Array | null {
  if (token === '') return parseTokenHash(tokenHash);
  if (tokenHash.length > 0) throw invalidRequest('token', 'must be absent with token_hash');
  return isSecret('access_token', token) ? sha256(token) : null;
}

/**
 * Whether the ledger considers the token alive. An expired grant leaves a live token that opens nothing (CONSENT_REQUIRED); a
 * revoked grant ends it.
 */
function isAlive(token: AccessToken, { appAlive, familyAlive, tokenAlive, grant }: Liveness) {
  if (!appAlive || !tokenAlive) return false;
  if (token.userId === null) return true;
  if (!familyAlive || grant === undefined) return false;
  return grant.status !== GrantStatus.REVOKED && grant.userId === token.userId;
}

/** What is known of a token that may work. */
type Held = Pick<
  AccessToken,
  'userId' | 'scopes' | 'askedWords' | 'issuedAt' | 'expiresAt' | 'grantId' | 'jkt'
>;

/** What a token can do now. */
interface Working {
  readonly scopes: readonly Scope[];
  readonly sub: string;
}

/**
 * Token introspection for apps (RFC 7662): one of the app's own tokens that works now; every other one is inactive. A user's token does
 * not work if its grant has lost all of the token's scopes.
 */
export function createOwnIntrospection(dependencies: {
  readonly clients: ClientAuthentication;
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly clock: Clock;
  readonly derivationKey: KeyObject;
  /** Address of the FHIR interface. */
  readonly fhirBase: string;
}) {
  const { clients, tokens, ledger, clock, fhirBase } = dependencies;

  async function describe(app: App, tokenType: string, token: Held, query: LivenessQuery) {
    const working = await findWorking(ledger, query, token);
    if (working === null) return null;
    const { askedWords, grantId, jkt, issuedAt, expiresAt } = token;
    return {
      active: true,
      tokenType,
      grantId: grantId ?? '',
      sub: working.sub,
      jkt: jkt ?? '',
      issuedAt: timestampFromDate(issuedAt),
      expiresAt: timestampFromDate(expiresAt),
      ...describeAccess({ ...working, askedWords }, app, fhirBase),
    };
  }

  async function findAccess(app: App, hash: Uint8Array) {
    const token = await tokens.findAccessToken(hash);
    if (token === null || token.clientId !== app.clientId) return null;
    if (judgeAccessToken(token, clock.now()) !== 'live') return null;
    return describe(app, 'access_token', token, toLivenessQuery(token));
  }

  async function findRefresh(app: App, text: string) {
    const token = await findRefreshToken(dependencies, text);
    if (token === null || token.family.clientId !== app.clientId || token.usedForMs !== null) return null;
    const { family } = token;
    const { clientId, appEpoch, grantId, id: familyId } = family;
    const isDead = family.revokedAt !== null || family.suspended || family.expiresAt <= clock.now();
    if (isDead || appEpoch !== app.epoch) return null;
    // What a refresh would open.
    const scopes = family.grows ? SCOPE_NAMES : family.scopes;
    const held = { ...family, scopes, issuedAt: family.rotatedAt ?? family.createdAt, jkt: null };
    return describe(app, 'refresh_token', held, { clientId, appEpoch, grantId, familyId });
  }

  return async ({
    client,
    token,
  }: IntrospectOwnTokenRequest): Promise<MessageInitShape<typeof IntrospectOwnTokenResponseSchema>> => {
    const app = await clients.authenticateConfidential(client);
    return inNameOf(app, async () => {
      if (!token) throw invalidRequest('token', 'is required');
      const own = isSecret('access_token', token)
        ? await findAccess(app, sha256(token))
        : await findRefresh(app, token);
      return { active: false, ...own, clientId: app.clientId };
    });
  };
}

/** Null when the token is dead or none of its scopes works. */
async function findWorking(
  ledger: ConsentLedger,
  query: LivenessQuery,
  { userId, scopes }: Held,
): Promise<Working | null> {
  const liveness = await ledger.checkLiveness(query);
  if (!liveness.appAlive || !liveness.tokenAlive || !liveness.familyAlive) return null;
  if (userId === null) return { scopes, sub: '' };
  const grant = findActiveGrant(liveness, userId);
  if (grant === null) return null;
  const working = toWorkingScopes(scopes, grant);
  return working.length === 0 ? null : { scopes: working, sub: grant.sub };
}
