import { type AskedScopes, parseAskedScopes, wantsPatient } from '@phds/catalog/fhir/words';
import type { Scope } from '@phds/catalog/scopes';
import { countCharacters, findShownTextFault } from '@phds/catalog/shown-text';
import type { OpenAuthorizationRequest } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { AppError, invalidRequest, type Violation } from '@phds/service-kit/errors';
import { readStatement } from '@phds/service-kit/postgres/sql';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import type { App } from './app.ts';
import { isRegistered } from './redirect-uri.ts';
import type {
  AuthorizationCode as CodeRow,
  PrismaClient,
  AuthorizationRequest as RequestRow,
} from './store/generated/client.ts';
import { createLookUp, inVerified, withKnownScopes } from './store/statements.ts';

/** Longest `state`, in characters. */
const STATE_MAX_LENGTH = 4096;

/** Longest `purpose`, in characters. */
const PURPOSE_MAX_LENGTH = 500;

/** An app's request, stored until the user has decided. */
export interface AuthorizationRequest extends Omit<RequestRow, 'scopes'> {
  readonly scopes: readonly Scope[];
}

/** The validated parameters. */
export type AcceptedParameters = ReturnType<typeof parseRequestParameters>;

/** A SHA-256 in base64url has 43 characters without padding; no verifier and no key could match another text. */
const BASE64URL_SHA256 = /^[A-Za-z0-9_-]{43}$/;

/**
 * Validates the parameters of an authorization request. A parameter without a value counts as not sent (RFC
 * 6749 section 3.1). Throws `invalid_request` that names every invalid one, else `invalid_scope`.
 */
export function parseRequestParameters(
  parameters: OpenAuthorizationRequest,
  app: Pick<App, 'scopes' | 'requirePkce'>,
  fhirBase: string,
) {
  const context = { base: fhirBase, registered: app.scopes };
  const asked = parseAskedScopes(parameters.scope ?? '', context);
  const isSmart = wantsPatient(asked.words);
  const violations = [
    ...checkResponseType(parameters),
    ...checkResponseMode(parameters),
    ...checkState(parameters),
    ...checkAudience(parameters, isSmart, fhirBase),
    ...checkPkce(parameters, isSmart ? 'with scopes of SMART' : app.requirePkce && 'for this app'),
    ...checkThumbprint(parameters),
    ...checkPurpose(parameters),
    ...checkRequestObjects(parameters),
    ...checkIncludeGrantedScopes(parameters),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
  return {
    scopes: requireRegistered(asked, app.scopes),
    askedWords: [...asked.words],
    state: parameters.state || null,
    codeChallenge: parameters.codeChallenge || null,
    dpopJkt: parameters.dpopJkt || null,
    purpose: parameters.purpose?.trim() ?? '',
    includeGrantedScopes: parameters.includeGrantedScopes === 'true',
  };
}

/** The asked scopes. Throws `invalid_scope` for none, an unknown one, or one that is not registered for the app. */
export function requireRegistered(asked: AskedScopes, registered: readonly Scope[]): readonly Scope[] {
  const scopes = requireKnown(asked);
  requireNone(scopes.filter((name) => !registered.includes(name)));
  return scopes;
}

/**
 * The asked scopes. Throws `invalid_scope` for none or an unknown one (RFC 6749 section 3.3), and for a word of SMART that is for nothing
 * that the app has registered.
 */
export function requireKnown({ scopes, unknown, unregistered }: AskedScopes): readonly Scope[] {
  if (unknown.length > 0) throw new AppError('invalid_scope', describeUnknown(unknown));
  requireNone(unregistered);
  if (scopes.length === 0) throw new AppError('invalid_scope', 'At least one scope of data is needed.');
  return scopes;
}

function requireNone(unregistered: readonly string[]): void {
  if (unregistered.length === 0) return;
  throw new AppError('invalid_scope', `Not registered for the app: ${unregistered.join(' ')}.`);
}

const NAMED_LENGTH = 64;

/** Names the first unknown value. Anybody can put one into a link, and a page may show the message: it cannot become a sentence. */
function describeUnknown([first = '']: readonly string[]): string {
  const named = first.slice(0, NAMED_LENGTH).replaceAll(/[^A-Za-z0-9:.,_/*-]/g, '?');
  return `Unknown scope: '${named}'.${first.includes(',') ? ' Scopes are separated by spaces.' : ''}`;
}

/**
 * The part of a request, or of its code, that the app's settings no longer allow; null when everything is allowed. Settings may
 * have been tightened since the request was opened.
 */
export function findSettingsFault(
  request: Pick<AuthorizationRequest, 'redirectUri' | 'scopes' | 'codeChallenge'>,
  app: Pick<App, 'redirectUris' | 'scopes' | 'requirePkce'>,
): string | null {
  if (!isRegistered(app, request.redirectUri)) {
    return 'The redirect URI is no longer registered for the app.';
  }
  const removed = request.scopes.filter((scope) => !app.scopes.includes(scope));
  if (removed.length > 0) return `The app is no longer registered for ${removed.join(' ')}.`;
  if (app.requirePkce && request.codeChallenge === null) {
    return 'The app now requires PKCE, and the authorization request had no code_challenge.';
  }
  return null;
}

function checkResponseType({ responseType }: OpenAuthorizationRequest): Violation[] {
  if (!responseType || responseType === 'code') return [];
  return [{ parameter: 'response_type', message: 'must be code' }];
}

/** Whoever waits for a fragment or a form would wait for ever. */
function checkResponseMode({ responseMode }: OpenAuthorizationRequest): Violation[] {
  if (!responseMode || responseMode === 'query') return [];
  return [{ parameter: 'response_mode', message: 'must be query' }];
}

function checkState({ state }: OpenAuthorizationRequest): Violation[] {
  if (!state) return [];
  if (countCharacters(state) > STATE_MAX_LENGTH) {
    return [{ parameter: 'state', message: `must have at most ${STATE_MAX_LENGTH} characters` }];
  }
  // The one character that Postgres cannot store.
  return state.includes('\0') ? [{ parameter: 'state', message: 'must not contain NUL' }] : [];
}

/** The tokens of SMART are for one interface; a wrong `aud` tells that the app means another server. */
function checkAudience({ aud }: OpenAuthorizationRequest, isSmart: boolean, fhirBase: string): Violation[] {
  if (aud === fhirBase || aud === `${fhirBase}/` || (!aud && !isSmart)) return [];
  return [
    {
      parameter: 'aud',
      message: aud ? `must be ${fhirBase}` : `is required with scopes of SMART: ${fhirBase}`,
    },
  ];
}

function checkPkce(
  { codeChallenge, codeChallengeMethod }: OpenAuthorizationRequest,
  requiredFor: string | false,
): Violation[] {
  if (!codeChallenge) {
    if (codeChallengeMethod) {
      return [{ parameter: 'code_challenge', message: 'is required with code_challenge_method' }];
    }
    return requiredFor ? [{ parameter: 'code_challenge', message: `is required ${requiredFor}` }] : [];
  }
  // RFC 7636 section 4.3: without a method, `plain` would apply.
  if (codeChallengeMethod !== 'S256') {
    return [{ parameter: 'code_challenge_method', message: 'must be S256' }];
  }
  if (BASE64URL_SHA256.test(codeChallenge)) return [];
  return [
    { parameter: 'code_challenge', message: 'must be a SHA-256 in base64url: 43 characters, no padding' },
  ];
}

function checkThumbprint({ dpopJkt }: OpenAuthorizationRequest): Violation[] {
  if (!dpopJkt || BASE64URL_SHA256.test(dpopJkt)) return [];
  return [{ parameter: 'dpop_jkt', message: 'must be the SHA-256 thumbprint of a key in base64url' }];
}

function checkPurpose({ purpose }: OpenAuthorizationRequest): Violation[] {
  if (!purpose) return [];
  if (countCharacters(purpose) > PURPOSE_MAX_LENGTH) {
    return [{ parameter: 'purpose', message: `must have at most ${PURPOSE_MAX_LENGTH} characters` }];
  }
  const message = findShownTextFault(purpose, 'line');
  return message === null ? [] : [{ parameter: 'purpose', message }];
}

function checkIncludeGrantedScopes({ includeGrantedScopes }: OpenAuthorizationRequest): Violation[] {
  if (!includeGrantedScopes || ['true', 'false'].includes(includeGrantedScopes)) return [];
  return [{ parameter: 'include_granted_scopes', message: 'must be true or false' }];
}

/** A reference would replace the validated parameters (RFC 9126 section 2.1); request objects (RFC 9101) are not supported. */
function checkRequestObjects({ requestUri, request }: OpenAuthorizationRequest): Violation[] {
  const reference = {
    parameter: 'request_uri',
    message: 'must be one of this service, and cannot be pushed; send the parameters themselves',
  };
  const object = { parameter: 'request', message: 'is not supported; send the parameters themselves' };
  return [...(requestUri ? [reference] : []), ...(request ? [object] : [])];
}

/** Number of failed attempts by the owning client that invalidate a code. */
export const CODE_MAX_FAILED_ATTEMPTS = 5;

/** A stored authorization code, identified by its SHA-256. */
export interface AuthorizationCode extends Omit<CodeRow, 'scopes' | 'restoreNumber'> {
  readonly scopes: readonly Scope[];
  /** Whether it was issued before an unconfirmed restore of the database. */
  readonly suspended: boolean;
}

/** Whether the code can still be exchanged at this time. */
export function isUsable(code: AuthorizationCode, now: Date): boolean {
  const isUnused = code.consumedAt === null && code.failedAttempts < CODE_MAX_FAILED_ATTEMPTS;
  return isUnused && !code.suspended && code.expiresAt > now;
}

/** Whether a text is a verifier according to RFC 7636 section 4.1. */
export function isCodeVerifier(text: string): boolean {
  return /^[A-Za-z0-9._~-]{43,128}$/.test(text);
}

export type AuthorizationStore = ReturnType<typeof createAuthorizationStore>;

const FIND_CODE = readStatement(new URL('store/sql/find-code.sql', import.meta.url));

/** Authorization requests and codes in Postgres. */
export function createAuthorizationStore(pool: pg.Pool, prisma: PrismaClient, guard: RestoreGuard) {
  const findCode = createLookUp({
    pool,
    guard,
    statement: FIND_CODE,
    keyOf: ({ hash }: AuthorizationCode): Uint8Array => hash,
  });
  return {
    async insertRequest({ scopes, ...request }: AuthorizationRequest): Promise<void> {
      await prisma.authorizationRequest.create({ data: { ...request, scopes: [...scopes] } });
    },

    async deleteRequests(pendingIds: readonly string[]): Promise<void> {
      await prisma.authorizationRequest.deleteMany({ where: { pendingId: { in: [...pendingIds] } } });
    },

    async findRequest(pendingId: string): Promise<AuthorizationRequest | null> {
      const row = await prisma.authorizationRequest.findFirst({ where: { pendingId } });
      return row && withKnownScopes(row);
    },

    /** Moves a request's end later; never earlier. */
    async extendRequest(pendingId: string, expiresAt: Date): Promise<void> {
      const where = { pendingId, expiresAt: { lt: expiresAt } };
      await prisma.authorizationRequest.updateMany({ where, data: { expiresAt } });
    },

    findCode,

    /** Stores a code unless its approval already has one. Returns the stored one: a repeated decision finds the first one's code. */
    async putCode({ suspended: _suspended, scopes, ...code }: AuthorizationCode) {
      const data = { ...code, scopes: [...scopes] };
      await inVerified(prisma, guard, (tx) =>
        tx.authorizationCode.createMany({ data, skipDuplicates: true }),
      );
      const stored = await findCode(code.hash);
      if (stored === null) throw new Error('the approval has another code');
      return stored;
    },

    /** Counts a failed attempt on an unused code. */
    async countFailedAttempt(hash: AuthorizationCode['hash']): Promise<void> {
      const where = { hash, consumedAt: null };
      await prisma.authorizationCode.updateMany({ where, data: { failedAttempts: { increment: 1 } } });
    },
  };
}
