import type { Clock } from '@phds/service-kit/clock';
import { AppError } from '@phds/service-kit/errors';
import { readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import { PROOF_MEMORY_SECONDS, readProof, type UnverifiedProof } from '@phds/service-kit/trust/dpop';
import type pg from 'pg';
import { addSeconds } from './token.ts';

const USE = readStatement(new URL('store/sql/use-jwt.sql', import.meta.url));

/**
 * Notes the use of a client assertion or a proof, by a SHA-256 that identifies it, until `expiresAt`. False if it was used before. Of
 * concurrent calls one gets true, also of those of other processes.
 */
export type UseJwt = (hash: Uint8Array, expiresAt: Date) => Promise<boolean>;

export function createUseJwt(pool: pg.Pool): UseJwt {
  return async (hash, expiresAt) => (await runStatement(pool, USE, hash, expiresAt)) === 1;
}

/** Possession of a key, which DPoP proofs of OAuth requests show (RFC 9449 section 5). */
export interface Possession {
  /**
   * Checks form and claims of a proof, before anything is looked up. Null if none was sent. Throws `invalid_dpop_proof`.
   *
   * @param path Path of the endpoint that was called.
   */
  read(proof: string | undefined, path: string): UnverifiedProof | null;
  /**
   * Checks the signature of a proof and uses it up, once the client is authenticated. Returns the thumbprint of its key, null without a
   * proof. Throws `invalid_dpop_proof`.
   */
  confirm(proof: UnverifiedProof | null): Promise<string | null>;
}

export function createPossession({
  useJwt,
  clock,
  issuer,
}: {
  readonly useJwt: UseJwt;
  readonly clock: Clock;
  /** Public base URL of the service. */
  readonly issuer: string;
}): Possession {
  return {
    read(proof, path) {
      if (proof === undefined) return null;
      const subject = { method: 'POST', url: issuer + path, accessToken: null, now: clock.now() };
      const read = readProof(proof, subject);
      if ('fault' in read) throw invalidDpopProof(read.fault);
      return read;
    },
    async confirm(proof) {
      if (proof === null) return null;
      if (!proof.isSigned()) throw invalidDpopProof('its signature is not that of jwk');
      const rememberedUntil = addSeconds(clock.now(), PROOF_MEMORY_SECONDS);
      if (!(await useJwt(proof.id, rememberedUntil))) throw invalidDpopProof('it was used before');
      return proof.jkt;
    },
  };
}

/** `fault` continues the sentence "The DPoP proof is refused:". */
function invalidDpopProof(fault: string): AppError {
  return new AppError('invalid_dpop_proof', `The DPoP proof is refused: ${fault}.`);
}

/** For a request that needs a proof and has none. */
export function missingDpopProof(cause: string): AppError {
  return new AppError('invalid_dpop_proof', `A DPoP proof is needed: ${cause}.`);
}
