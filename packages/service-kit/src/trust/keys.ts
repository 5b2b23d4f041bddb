import {
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  flattenedVerify,
  importPKCS8,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';

/** The algorithm of all our signatures: Ed25519 (RFC 8037). */
export const SIGNATURE_ALGORITHM = 'EdDSA';

/** Parses a PKCS #8 PEM of an Ed25519 key. */
export function parsePrivateKey(pem: string) {
  return importPKCS8(pem, SIGNATURE_ALGORITHM);
}

/**
 * Parses a JWKS (RFC 7517 section 5) into a key look-up for jose. Several keys may share a `kid`: during a rotation the set
 * contains the old and the new key of their owner.
 */
export function parseKeySet(text: string): JWTVerifyGetKey {
  return findingSigner(createLocalJWKSet(JSON.parse(text) as JSONWebKeySet));
}

/** A look-up that picks the key that signed the token when several keys match its header. */
export function findingSigner(findKey: JWTVerifyGetKey): JWTVerifyGetKey {
  return async (header, token) => {
    try {
      return await findKey(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return findSigner(error, token);
      throw error;
    }
  };
}

async function findSigner(candidates: errors.JWKSMultipleMatchingKeys, token: FlattenedJWSInput) {
  for await (const key of candidates) {
    const signed = await flattenedVerify(token, key).then(
      () => true,
      () => false,
    );
    if (signed) return key;
  }
  throw candidates;
}
