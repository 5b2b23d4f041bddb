import { unauthorized } from '@phds/service-kit/errors';
import { isSecret } from '@phds/service-kit/secrets';
import { readProof, type UnverifiedProof } from '@phds/service-kit/trust/dpop';
import {
  type Authenticated,
  ExpiredToken,
  findPresentedToken,
  RefusedToken,
  UnprovenToken,
} from '../cache/access-tokens.ts';
import type { Exchange } from './exchange.ts';

/**
 * Authenticates a request by its access token: `Bearer`, or `DPoP` with a proof that the app holds the key to which the token is bound (RFC
 * 9449). A proof is compared with request and token first, so that only a proof for a known token costs the check of a signature, and only a
 * signed one is remembered as used. Throws the errors of `AccessTokens.authenticate`; `token_expired` only after a right proof.
 */
export async function authenticate(exchange: Exchange): Promise<Authenticated> {
  const { gateway, authorization } = exchange;
  const presented = findPresentedToken(authorization);
  if (presented === null) throw unauthorized('not one access token');
  const { token, scheme } = presented;
  const proof = scheme === 'bearer' ? null : findProofOf(exchange, token);
  const who = await gateway.accessTokens.authenticate(token).catch(async (error: unknown) => {
    if (error instanceof ExpiredToken) await confirm(exchange, proof, error.jkt);
    throw error;
  });
  const { clientId, jkt } = who.principal;
  exchange.clientId = clientId;
  if (proof !== null || jkt !== '') await confirm(exchange, proof, jkt);
  return who;
}

/** The public URL of a request without its query: never from `Host`, which the client chooses. */
export function publicUrlOf({ gateway, request }: Exchange): string {
  return gateway.config.PUBLIC_URL + (request.originalUrl ?? request.url).split('?', 1)[0];
}

function findProofOf(exchange: Exchange, accessToken: string): UnverifiedProof {
  if (!isSecret('access_token', accessToken)) throw unauthorized('not an access token');
  const { gateway, request } = exchange;
  // Several fields are joined with commas, which no proof contains.
  const { dpop: text } = request.headers;
  if (typeof text !== 'string') throw unauthorized('no DPoP proof');
  const { method = '' } = request;
  const subject = { method, url: publicUrlOf(exchange), accessToken, now: gateway.clock.now() };
  const proof = readProof(text, subject);
  if ('fault' in proof) throw unauthorized(`the DPoP proof: ${proof.fault}`);
  return proof;
}

/** Throws unless the key to which the token is bound was proved now, or it is a bearer token. `jkt` is empty for that. */
async function confirm(exchange: Exchange, proof: UnverifiedProof | null, jkt: string): Promise<void> {
  if (proof === null) {
    if (jkt !== '') throw new UnprovenToken('a bound token was presented as a bearer token');
    return;
  }
  if (jkt === '') throw new RefusedToken('a token that is not bound was presented with the scheme DPoP');
  if (proof.jkt !== jkt) throw new UnprovenToken('the DPoP proof is for another key than that of the token');
  if (!proof.isSigned()) throw new UnprovenToken('the DPoP proof is not signed by its key');
  if (!(await exchange.gateway.usedProofs.add(proof.id))) {
    throw new UnprovenToken('the DPoP proof was used before');
  }
  exchange.provenKey = proof.jkt;
}
