import { PAGE_DEFAULT, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import type { ClientCredentials as WireCredentials } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import type { PageRequest } from '@phds/contracts/phds/common/v1/page_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import type { ClientCredentials } from '../app/client-authentication.ts';
import type { Page } from '../app/ports.ts';

const HASH_BYTES = 32;

export function fromWireCredentials(client: WireCredentials | undefined): ClientCredentials {
  return { clientId: client?.clientId, clientSecret: client?.clientSecret };
}

/** Zero means the default; a larger page than the largest is clamped. */
export function fromWirePage(page: PageRequest | undefined): Page {
  return {
    page: page?.page || PAGE_DEFAULT,
    pageSize: Math.min(page?.pageSize || PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX),
  };
}

/** A SHA-256; throws `invalid_request` for bytes that cannot be one. */
export function parseTokenHash(hash: Uint8Array): Uint8Array {
  if (hash.length !== HASH_BYTES) throw invalidRequest('token_hash', `must have ${HASH_BYTES} bytes`);
  return hash;
}
