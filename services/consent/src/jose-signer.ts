import { createPublicKey } from 'node:crypto';
import { parsePrivateKey, SIGNATURE_ALGORITHM } from '@phds/service-kit/trust/keys';
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose';

/** Signs statements that can be verified later. */
export interface Signer {
  /** Compact JWS of the content, issued at `at`. */
  sign(content: object, at: Date): Promise<string>;
}

/** `typ` of a receipt, which prevents confusion with tokens. */
export const RECEIPT_TYPE = 'consent-receipt+jwt';

/**
 * Creates a signer with Ed25519 (RFC 8037) and its own `typ`. `kid` is the RFC 7638 thumbprint of the public key. Rejects keys of
 * another kind.
 */
export async function createJoseSigner(privateKeyPem: string, typ: string): Promise<Signer> {
  const key = await parsePrivateKey(privateKeyPem);
  const kid = await calculateJwkThumbprint(await exportJWK(createPublicKey(privateKeyPem)));
  const header = { alg: SIGNATURE_ALGORITHM, typ, kid };
  return {
    sign: (content, at) =>
      new SignJWT({ ...content })
        .setProtectedHeader(header)
        .setIssuedAt(Math.floor(at.getTime() / 1000))
        .sign(key),
  };
}
