import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** Deviations from a valid session, for tests of refusals. */
export interface SessionOverrides {
  readonly issuer?: string;
  readonly audience?: string;
  readonly typ?: string;
  /** Seconds from now; negative for an expired session. Default 900. */
  readonly expiresInSeconds?: number;
  /** Additional claims, or other values of the standard ones. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A disposable identity provider. */
export interface SessionIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** The key set as JSON text, which a service accepts instead of a URL. */
  readonly jwks: string;
  /** Issues a session JWT for this user. */
  issueSession(userId: string, overrides?: SessionOverrides): Promise<string>;
}

/** `typ` of a session JWT. */
const SESSION_TOKEN_TYPE = 'session+jwt';

const KEY_ID = 'test-session-key';
const DEFAULT_LIFE_SECONDS = 900;

/** Creates an identity provider with its own key pair, so sessions of other providers fail verification. */
export async function createSessionIssuer(
  options: { readonly issuer?: string; readonly audience?: string; readonly clock?: { now(): Date } } = {},
): Promise<SessionIssuer> {
  const { issuer = 'https://id.test', audience = 'phds', clock = { now: () => new Date() } } = options;
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
  const key = { ...(await exportJWK(publicKey)), kid: KEY_ID, alg: 'EdDSA', use: 'sig' };
  const jwks = JSON.stringify({ keys: [key] });
  return {
    issuer,
    audience,
    jwks,
    issueSession: (userId, overrides = {}) => {
      const now = Math.floor(clock.now().getTime() / 1000);
      const claims = {
        iss: overrides.issuer ?? issuer,
        aud: overrides.audience ?? audience,
        sub: userId,
        iat: now,
        exp: now + (overrides.expiresInSeconds ?? DEFAULT_LIFE_SECONDS),
        ...overrides.claims,
      };
      const header = { alg: 'EdDSA', kid: KEY_ID, typ: overrides.typ ?? SESSION_TOKEN_TYPE };
      return new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
    },
  };
}
