import { sha256 } from '@phds/service-kit/secrets';
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';

/** A key of an app, with which it proves possession. */
export interface ProofKey {
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
  /** Its thumbprint (RFC 7638). */
  readonly jkt: string;
  /** A proof (RFC 9449). `claims` and `header` replace or, with undefined, remove those of a right one. */
  prove(
    subject: {
      readonly method: string;
      readonly url: string;
      readonly accessToken?: string;
      readonly now: Date;
    },
    changes?: { readonly claims?: object; readonly header?: object },
  ): Promise<string>;
}

/** A new key for one of the accepted algorithms. */
export async function createProofKey(
  alg = 'ES256',
  options: { modulusLength?: number } = {},
): Promise<ProofKey> {
  const pair = await generateKeyPair(alg, { extractable: true, ...options });
  const [publicJwk, privateJwk] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)]);
  return {
    publicJwk,
    privateJwk,
    jkt: await calculateJwkThumbprint(publicJwk),
    prove: ({ method, url, accessToken, now }, { claims = {}, header = {} } = {}) => {
      const right = {
        jti: crypto.randomUUID(),
        htm: method,
        htu: url,
        iat: Math.floor(now.getTime() / 1000),
        ...(accessToken !== undefined && { ath: sha256(accessToken).toString('base64url') }),
      };
      const fields: JWTHeaderParameters = { alg, typ: 'dpop+jwt', jwk: publicJwk, ...header };
      return new SignJWT({ ...right, ...claims }).setProtectedHeader(fields).sign(pair.privateKey);
    },
  };
}
