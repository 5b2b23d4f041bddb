import type { ClientCredentials as ClientCredentialsMessage } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import type { ClientCredentials } from '../app/client-authentication.ts';

const HASH_BYTES = 32;

export function toClientCredentials(message: ClientCredentialsMessage | undefined): ClientCredentials {
  return { clientId: message?.clientId, clientSecret: message?.clientSecret };
}

/** A SHA-256. Throws `invalid_request` for a wrong length. */
export function parseTokenHash(hash: Uint8Array): Uint8Array {
  if (hash.length !== HASH_BYTES) throw invalidRequest('token_hash', `must have ${HASH_BYTES} bytes`);
  return hash;
}
