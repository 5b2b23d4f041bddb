import { sha256 } from '@phds/service-kit/secrets';
import { toAddressKey } from '../domain/client-address.ts';
import { type BucketOptions, type CountingBucket, createBucket } from './bucket.ts';

/** One authentication that failed. */
export interface FailedAuthentication {
  readonly address: string;
  /** The presented client id, existing or not, or what has the form of an access token; undefined for anything else. */
  readonly credential: string | undefined;
  /** Whether the credential is a token that this service issued, and so no guess. */
  readonly issued: boolean;
}

/**
 * Counts failed authentications (contract sections 2 and 6). Only failures are counted and only failures are refused: a right credential
 * never meets these buckets. Each credential has a bucket. The address has one too, from which a credential takes once a minute, however
 * often it fails: so one wrong secret does not use up the address of a partner. Failures without a credential take from it each time. Tokens that were issued and are no longer
 * alive take nothing from it: a job that meets a hundred of them guesses nothing.
 */
export class FailedAuthentications {
  readonly #byAddress: CountingBucket;
  readonly #byCredential: CountingBucket;

  constructor(options: Omit<BucketOptions, 'name'>) {
    this.#byAddress = createBucket({ ...options, name: 'failed-address' });
    this.#byCredential = createBucket({ ...options, name: 'failed-credential' });
  }

  /** Counts one failure; returns null, or the seconds to wait when a bucket is empty. */
  async count({ address, credential, issued }: FailedAuthentication): Promise<number | null> {
    const addressKey = toAddressKey(address);
    // An address that guesses on beyond its limit leaves no bucket behind for each guess.
    const empty = issued ? null : this.#byAddress.findEmptyFor(addressKey);
    if (empty !== null) return empty;
    if (credential !== undefined) {
      // Hashed: what was presented may be of any length.
      const own = await this.#byCredential.take(sha256(credential).toString('base64url'));
      if (!own.allowed) return own.resetSeconds;
      const isFirst = own.remaining === this.#byCredential.perMinute - 1;
      if (issued || !isFirst) return null;
    }
    const byAddress = await this.#byAddress.take(addressKey);
    return byAddress.allowed ? null : byAddress.resetSeconds;
  }
}
