import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { type Authority, createAuthority, type IssuedCertificate } from '@phds/service-kit/keys/authority';
import { createServiceKeys, type ServiceKeys } from '@phds/test-kit/service-keys';
import { createSessionIssuer, type SessionIssuer } from '@phds/test-kit/session-issuer';
import { calculateJwkThumbprint } from 'jose';

/** What can be rotated with an overlap. */
export const ROTATED = [
  'service keys',
  'assertion key',
  'receipt key',
  'session keys',
  'certificates',
] as const;
export type Rotated = (typeof ROTATED)[number];

type Generation = 0 | 1;

/** Which keys are trusted, and which one signs. */
export interface Position {
  readonly trusted: readonly Generation[];
  readonly used: Generation;
}

export const BEFORE: Position = { trusted: [0], used: 0 };
/** The steps of a rotation; after each, the services that are concerned are restarted. */
export const STEPS = {
  'trust the new key too': { trusted: [0, 1], used: 0 },
  'use the new key': { trusted: [0, 1], used: 1 },
  'trust the old key no longer': { trusted: [1], used: 1 },
} as const satisfies Record<string, Position>;

const CALLERS = ['gateway', 'authorization', 'consent', 'health-data', 'service:importer'];
export const SESSION_ISSUER = 'https://id.test';

interface Keys {
  readonly services: ServiceKeys;
  readonly assertion: ServiceKeys;
  readonly receipt: { readonly pem: string; readonly jwk: object };
  readonly sessions: SessionIssuer;
  readonly authority: Authority;
  readonly certificate: IssuedCertificate;
}

/** Two generations of all keys, and the settings of the services at the present position of each rotation. */
export class KeyRing {
  readonly #keys: readonly [Keys, Keys];
  readonly #positions = new Map<Rotated, Position>(ROTATED.map((name) => [name, BEFORE]));

  private constructor(keys: readonly [Keys, Keys]) {
    this.#keys = keys;
  }

  static async create(): Promise<KeyRing> {
    return new KeyRing([await createKeys(), await createKeys()]);
  }

  move(rotated: Rotated, position: Position): void {
    // Old receipts outlive the key that signed them.
    const trusted = rotated === 'receipt key' && position.used === 1 ? ([0, 1] as const) : position.trusted;
    this.#positions.set(rotated, { ...position, trusted });
  }

  /** A session that the identity provider issues now. */
  session(userId: string): Promise<string> {
    return this.#used('session keys').sessions.issueSession(userId);
  }

  /** TLS of a caller or service. */
  tls() {
    const { cert, key } = this.#used('certificates').certificate;
    return {
      ca: this.#trusted('certificates')
        .map(({ authority }) => authority.ca)
        .join(''),
      cert,
      key,
    };
  }

  /** The settings with keys; each service ignores those of the others. */
  settings(service: string): Record<string, string> {
    const { ca, cert, key } = this.tls();
    return {
      SERVICE_PRIVATE_KEY: this.#used('service keys').services.pem(service),
      SERVICE_PUBLIC_KEYS: join(this.#trusted('service keys').map(({ services }) => services.jwks)),
      ASSERTION_PRIVATE_KEY: this.#used('assertion key').assertion.pem('authorization'),
      ASSERTION_PUBLIC_KEYS: join(this.#trusted('assertion key').map(({ assertion }) => assertion.jwks)),
      RECEIPT_PRIVATE_KEY: this.#used('receipt key').receipt.pem,
      RECEIPT_PUBLIC_KEYS: JSON.stringify({
        keys: this.#trusted('receipt key').map(({ receipt }) => receipt.jwk),
      }),
      SESSION_JWKS: join(this.#trusted('session keys').map(({ sessions }) => sessions.jwks)),
      TLS_CA: ca,
      TLS_CERT: cert,
      TLS_KEY: key,
    };
  }

  #used(rotated: Rotated): Keys {
    return this.#keys[this.#position(rotated).used];
  }

  #trusted(rotated: Rotated): Keys[] {
    return this.#position(rotated).trusted.map((generation) => this.#keys[generation]);
  }

  #position(rotated: Rotated): Position {
    return this.#positions.get(rotated) ?? BEFORE;
  }
}

async function createKeys(): Promise<Keys> {
  const authority = createAuthority();
  const pem = createServiceKeys(['receipt']).pem('receipt');
  const jwk = createPublicKey(pem).export({ format: 'jwk' });
  return {
    services: createServiceKeys(CALLERS),
    assertion: createServiceKeys(['authorization']),
    receipt: { pem, jwk: { ...jwk, kid: await calculateJwkThumbprint(jwk as Required<JsonWebKey>) } },
    sessions: await createSessionIssuer({ issuer: SESSION_ISSUER }),
    authority,
    certificate: authority.issue('IP:127.0.0.1', 'DNS:localhost'),
  };
}

/** One JWKS with the keys of all. */
function join(sets: readonly string[]): string {
  return JSON.stringify({ keys: sets.flatMap((set) => JSON.parse(set).keys) });
}
