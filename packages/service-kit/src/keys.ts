import { createLocalJWKSet, importPKCS8, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';

/** The one algorithm of our own signatures: Ed25519 (RFC 8037). */
export const SIGNATURE_ALGORITHM = 'EdDSA';

/** Parses a PKCS #8 PEM of an Ed25519 key. */
export function parsePrivateKey(pem: string) {
  return importPKCS8(pem, SIGNATURE_ALGORITHM);
}

/** Parses a JWKS text (RFC 7517 section 5) into a key look-up for jose. */
export function parseKeySet(text: string): JWTVerifyGetKey {
  return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
}
