import { AppError } from '@phds/service-kit/errors';
import { readProof } from '@phds/service-kit/trust/dpop';
import { z } from 'zod';
import type { Exchange } from '../exchange.ts';
import type { Fields } from '../openapi/fields.ts';
import { publicUrlOf } from '../presented-token.ts';

/** The header field of requests that may have a proof. */
export const PROOF_HEADERS: Fields = {
  DPoP: z.string().optional().meta({
    description:
      'A proof of possession (RFC 9449) for this request. The tokens get bound to its key. Its mistakes are INVALID_DPOP_PROOF.',
  }),
};

/**
 * The DPoP proof of an OAuth request; undefined without one. Throws `invalid_dpop_proof` for mistakes that it shows by itself, so that
 * they are answered alike for every client. Authorization checks all of it, with the signature.
 */
export function findProof(exchange: Exchange): string | undefined {
  const { gateway, request } = exchange;
  const { dpop: proof } = request.headers;
  if (typeof proof !== 'string') return undefined;
  const url = publicUrlOf(exchange);
  const { method } = request;
  const read = readProof(proof, { method, url, accessToken: null, now: gateway.clock.now() });
  if (!('fault' in read)) return proof;
  throw new AppError('invalid_dpop_proof', `The DPoP proof is refused: ${read.fault}.`);
}
