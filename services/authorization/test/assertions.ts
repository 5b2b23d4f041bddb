import { newId } from '@phds/service-kit/ids';
import type { ProofKey } from '@phds/test-kit/dpop-proofs';
import { importJWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { type Harness, ISSUER } from './harness.ts';

export interface AssertionChanges {
  readonly claims?: object;
  readonly header?: object;
  readonly alg?: string;
}

/** A right client assertion of the app, with these changes. */
export async function signAssertion(
  { clock }: Pick<Harness, 'clock'>,
  { privateJwk }: Pick<ProofKey, 'privateJwk'>,
  clientId: string,
  { claims, header, alg = 'ES256' }: AssertionChanges = {},
): Promise<string> {
  const exp = Math.floor(clock.now().getTime() / 1000) + 60;
  const right = { iss: clientId, sub: clientId, aud: ISSUER, jti: newId('jti'), exp };
  const fields: JWTHeaderParameters = { alg, typ: 'client-authentication+jwt', ...header };
  const jwt = new SignJWT({ ...right, ...claims }).setProtectedHeader(fields);
  return jwt.sign(await importJWK(privateJwk, alg));
}
