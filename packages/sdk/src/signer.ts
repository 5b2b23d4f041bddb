import { toBase64Url } from './base64url.ts';

/** A private key as JWK (RFC 7517); the service finds the public key by `kid` if there is one. */
export interface PrivateJwk {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly y?: string;
  readonly d: string;
  readonly kid?: string;
}

/** A private key of the curve P-256 or Ed25519: PEM (PKCS#8, `BEGIN PRIVATE KEY`) or JWK. */
export type PrivateKey = string | PrivateJwk;

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A key pair of Web Crypto. */
export interface KeyPair {
  readonly privateKey: Key;
  readonly publicKey: Key;
}

/** Keeps a key that the SDK makes, so that it outlives the process or the page. */
export interface KeyStore {
  /** The key pair that is kept, or the one of `make`, which is kept from now on. Called for each signature. */
  keyPair(make: () => Promise<KeyPair>): Promise<KeyPair>;
}

type PublicJwk = Pick<PrivateJwk, 'kty' | 'crv' | 'x' | 'y'>;

interface ReadyKey {
  readonly key: Key;
  readonly alg: 'ES256' | 'Ed25519';
  readonly jwk: PublicJwk;
  readonly kid: string | undefined;
}

const ES256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const ED25519 = { name: 'Ed25519' };

const PEM = /^\s*-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----\s*$/;

/** Signs JWTs with one key, by Web Crypto: the given one, the one of a store, or a new one that cannot be read. */
export class Signer {
  readonly #given: PrivateKey | KeyStore | undefined;
  #ready: Promise<ReadyKey> | undefined;

  constructor(given?: PrivateKey | KeyStore) {
    this.#given = given;
  }

  /** A DPoP proof (RFC 9449): the header has the public key. */
  prove(claims: object): Promise<string> {
    return this.#sign(claims, ({ jwk }) => ({ typ: 'dpop+jwt', jwk }));
  }

  /** A client assertion (RFC 7523). */
  assert(claims: object): Promise<string> {
    return this.#sign(claims, ({ kid }) => ({ typ: 'client-authentication+jwt', kid }));
  }

  async #sign(claims: object, toHeader: (ready: ReadyKey) => object): Promise<string> {
    const ready = await this.#key();
    const { key, alg } = ready;
    const content = `${encode({ alg, ...toHeader(ready) })}.${encode(claims)}`;
    const algorithm = alg === 'ES256' ? ES256 : ED25519;
    const signature = await crypto.subtle.sign(algorithm, key, new TextEncoder().encode(content));
    return `${content}.${toBase64Url(new Uint8Array(signature))}`;
  }

  #key(): Promise<ReadyKey> {
    const given = this.#given;
    // Not remembered: the store can have lost it, as when the person clears the data of the site.
    if (typeof given === 'object' && 'keyPair' in given) return given.keyPair(generate).then(toReady);
    this.#ready ??= given === undefined ? generate().then(toReady) : read(given);
    return this.#ready;
  }
}

function encode(value: object): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
}

function generate(): Promise<KeyPair> {
  return crypto.subtle.generateKey(ES256, false, ['sign', 'verify']);
}

async function toReady({ privateKey, publicKey }: KeyPair): Promise<ReadyKey> {
  const jwk = toPublic(await crypto.subtle.exportKey('jwk', publicKey));
  return { key: privateKey, alg: 'ES256', jwk, kid: undefined };
}

async function read(given: PrivateKey): Promise<ReadyKey> {
  const { kid, d, ...rest } = typeof given === 'string' ? await readPem(given) : given;
  const jwk = toPublic(rest);
  const isEdwards = jwk.crv === 'Ed25519';
  try {
    const key = await importJwk({ ...jwk, d }, isEdwards ? ED25519 : ES256);
    return { key, alg: isEdwards ? 'Ed25519' : 'ES256', jwk, kid };
  } catch (cause) {
    throw noKey(cause);
  }
}

function importJwk(jwk: PrivateJwk, algorithm: { readonly name: string }): Promise<Key> {
  return crypto.subtle.importKey('jwk', { ...jwk }, algorithm, false, ['sign']);
}

/** As JWK, because a PEM has no public key of its own that Web Crypto gives. */
async function readPem(pem: string): Promise<PrivateJwk> {
  const [, base64 = ''] = PEM.exec(pem) ?? [];
  let last: unknown;
  for (const algorithm of [ES256, ED25519]) {
    try {
      const bytes = Uint8Array.from(atob(base64.replace(/\s/g, '')), (character) => character.charCodeAt(0));
      const key = await crypto.subtle.importKey('pkcs8', bytes, algorithm, true, ['sign']);
      return (await crypto.subtle.exportKey('jwk', key)) as PrivateJwk;
    } catch (cause) {
      last = cause;
    }
  }
  throw noKey(last);
}

/** Only the members that say which key it is, as RFC 9449 4.2 asks for. */
function toPublic({ kty, crv, x, y }: Partial<PublicJwk>): PublicJwk {
  return { kty, crv, x, ...(y !== undefined && { y }) } as PublicJwk;
}

function noKey(cause: unknown): TypeError {
  return new TypeError(
    'The private key is neither a PEM (PKCS#8, `BEGIN PRIVATE KEY`) nor a JWK of the curve P-256 or Ed25519.',
    { cause },
  );
}
