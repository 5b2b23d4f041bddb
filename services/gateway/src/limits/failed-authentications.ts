import { sha256 } from '@phds/service-kit/secrets';
import { toAddressKey } from '../domain/client-address.ts';
import { type Bucket, type BucketOptions, createBucket } from './bucket.ts';

/**
 * Counts failed authentications by address and by presented client id, existing or not (contract section 2). Only failures
 * are counted and only failures are refused: a right credential never meets these buckets.
 */
export class FailedAuthentications {
  readonly #byAddress: Bucket;
  readonly #byClient: Bucket;

  constructor(options: Omit<BucketOptions, 'name'>) {
    this.#byAddress = createBucket({ ...options, name: 'failed-address' });
    this.#byClient = createBucket({ ...options, name: 'failed-client' });
  }

  /** Counts one failure; answers null, or the seconds to wait when a bucket is empty. */
  async count(address: string, presentedClientId: string | undefined): Promise<number | null> {
    const byAddress = await this.#byAddress.take(toAddressKey(address));
    if (!byAddress.allowed) return byAddress.resetSeconds;
    if (presentedClientId === undefined) return null;
    // Hashed: what was presented may be of any length.
    const byClient = await this.#byClient.take(sha256(presentedClientId).toString('base64url'));
    return byClient.allowed ? null : byClient.resetSeconds;
  }
}
