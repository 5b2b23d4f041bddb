import { cleanShownText } from '@phds/catalog/shown-text';
import { type JWTPayload, jwtVerify } from 'jose';
import type { FailureReports } from '../background.ts';
import { type Clock, systemClock } from '../clock.ts';
import { AppError, unauthorized } from '../errors.ts';
import { isUserId } from '../ids.ts';
import type { commonSettings, SettingsOf, sessionSettings } from '../settings/settings.ts';
import { openSessionKeys, parseKeySet, type SessionKeys } from './keys.ts';

/** `typ` of a session JWT that the host application signs itself. An ID token has the `typ` JWT or none. */
export const SESSION_TOKEN_TYPE = 'session+jwt';

/** Maximum length of a session JWT, in characters. */
export const MAX_SESSION_LENGTH = 4_096;

/** Maximum length of a person's name, in characters. */
const MAX_NAME_LENGTH = 100;

/** A session ends this long after its `iat`, even if its `exp` is later. Seconds. */
export const MAX_SESSION_SECONDS = 24 * 3600;

/** How far the clock of the identity provider may be ahead of ours. Seconds. */
export const MAX_CLOCK_DIFFERENCE_SECONDS = 60;

/** The algorithms with which an identity provider may sign. */
export const SESSION_ALGORITHMS = ['EdDSA', 'ES256', 'RS256', 'PS256'] as const;

/** A person's session. */
export interface Session {
  /** The claim that the setting SESSION_USER_ID_CLAIM names. */
  readonly userId: string;
  /** `name`: what to call the person, cleaned like every shown text, at most 100 characters. */
  readonly name: string | null;
  /** `sub`: the person's id at the identity provider. */
  readonly subject: string;
  /** `sid`: the id of the session at the identity provider. */
  readonly sid: string | null;
  readonly issuedAt: Date;
  /** `exp`, but at most 24 hours after `issuedAt`. */
  readonly expiresAt: Date;
  /** All claims, for settings that name one. */
  readonly claims: Readonly<Record<string, unknown>>;
}

interface SessionVerifierOptions {
  readonly issuer: string;
  /** The accepted audiences: our client id at the identity provider, the audience of the host application's own sessions. */
  readonly audience: readonly string[];
  /** The keys of the provider; a text is their JWKS. */
  readonly jwks: string | SessionKeys;
  /** The claim that is the user's id; default `sub`. */
  readonly userIdClaim?: string;
  readonly clock?: Clock;
}

/** Verifies a session JWT. Throws `unauthorized` for every invalid session, and `unavailable` when the keys cannot be fetched. */
export type SessionVerifier = (jwt: string) => Promise<Session>;

/**
 * Creates a verifier of sessions: JWTs of the `typ` session+jwt, and ID tokens of the identity provider
 * (OpenID Connect Core 1.0 section 2).
 */
export function createSessionVerifier(options: SessionVerifierOptions): SessionVerifier {
  const { issuer, audience, userIdClaim = 'sub', clock = systemClock } = options;
  const findKey = typeof options.jwks === 'string' ? parseKeySet(options.jwks) : options.jwks.find;
  return async (jwt) => {
    if (jwt.length > MAX_SESSION_LENGTH) throw unauthorized('session too long');
    const now = clock.now();
    try {
      const { payload, protectedHeader } = await jwtVerify(jwt, findKey, {
        algorithms: [...SESSION_ALGORITHMS],
        issuer,
        audience: [...audience],
        requiredClaims: ['exp', 'iat', 'sub'],
        maxTokenAge: MAX_SESSION_SECONDS,
        clockTolerance: MAX_CLOCK_DIFFERENCE_SECONDS,
        currentDate: now,
      });
      if (toMediaType(protectedHeader.typ) !== SESSION_TOKEN_TYPE) {
        requireIdToken(protectedHeader.typ, payload, audience);
      }
      const session = toSession(payload, userIdClaim);
      // The tolerance of jose is for `iat` and `nbf`; a session ends at its expiry.
      if (session.expiresAt <= now) throw unauthorized('session expired');
      return session;
    } catch (error) {
      throw error instanceof AppError ? error : unauthorized(error);
    }
  };
}

/** Throws `unauthorized` for every JWT that is not an ID token issued to us (OpenID Connect Core 1.0 sections 2 and 3.1.3.7). */
function requireIdToken(typ: unknown, payload: JWTPayload, audience: readonly string[]): void {
  if (typ !== undefined && toMediaType(typ) !== 'jwt')
    throw unauthorized('neither a session nor an ID token');
  const { nonce, azp, events, typ: kind } = payload;
  // Access tokens of many providers are JWTs without a `typ` of their own, but have no nonce.
  if (!isText(nonce)) throw unauthorized('an ID token needs a nonce');
  // Keycloak up to version 24 copies the nonce into its access tokens, and names the kind in this claim.
  if (kind !== undefined && kind !== 'ID') throw unauthorized('the claim typ is not that of an ID token');
  if (events !== undefined) throw unauthorized('a security event (logout token) is not an ID token');
  const isForOthersToo = Array.isArray(payload.aud) && payload.aud.length > 1;
  if (azp === undefined && isForOthersToo) throw unauthorized('several audiences need azp');
  if (azp !== undefined && !audience.some((ours) => ours === azp))
    throw unauthorized('azp is another client');
}

/** The `typ` of a JWS header as RFC 7515 section 4.1.9 compares it; null when it is no text. */
export function toMediaType(typ: unknown): string | null {
  return typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : null;
}

function toSession(payload: JWTPayload, userIdClaim: string): Session {
  const { sub: subject, sid, iat = 0, exp = 0 } = payload;
  if (!isUserId(subject)) throw unauthorized('the subject is not valid');
  const userId = payload[userIdClaim];
  if (!isUserId(userId)) throw unauthorized(`the claim ${userIdClaim} is not a valid user id`);
  // A sid that a sign-out at the identity provider could not name is refused, not ignored.
  if (sid !== undefined && !isText(sid)) throw unauthorized('sid is not valid');
  return {
    userId,
    name: findName(payload['name']),
    subject,
    sid: sid ?? null,
    issuedAt: new Date(iat * 1000),
    expiresAt: new Date(Math.min(exp, iat + MAX_SESSION_SECONDS) * 1000),
    claims: payload,
  };
}

/** Whether a claim is a text that can be stored: well-formed and not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed();
}

/** A name as it may be shown; null for every other value and when nothing of it is visible. */
function findName(value: unknown): string | null {
  if (!isText(value)) return null;
  const characters = [...cleanShownText(value, 'line')];
  // A cut may leave a joiner at the end.
  return cleanShownText(characters.slice(0, MAX_NAME_LENGTH).join(''), 'line') || null;
}

/** The verifier of sessions and the keys of the identity provider. */
export interface SessionVerification extends AsyncDisposable {
  readonly verify: SessionVerifier;
  readonly keys: SessionKeys;
}

const SESSION_KEYS_TIMEOUT_MS = 2_000;

/** Opens the keys of the identity provider, and creates the verifier of the accepted sessions. */
export function openSessionVerification(
  config: SettingsOf<typeof sessionSettings> & Pick<SettingsOf<typeof commonSettings>, 'DEADLINE_FACTOR'>,
  { clock = systemClock, failureOf }: { readonly clock?: Clock; readonly failureOf: FailureReports },
): SessionVerification {
  const keys = openSessionKeys(config.SESSION_JWKS, {
    timeoutMs: SESSION_KEYS_TIMEOUT_MS * config.DEADLINE_FACTOR,
    onFailure: failureOf('fetching the keys of the identity provider'),
  });
  const verify = createSessionVerifier({
    issuer: config.SESSION_ISSUER,
    audience: config.SESSION_AUDIENCE,
    userIdClaim: config.SESSION_USER_ID_CLAIM,
    jwks: keys,
    clock,
  });
  return { verify, keys, [Symbol.asyncDispose]: () => keys[Symbol.asyncDispose]() };
}
