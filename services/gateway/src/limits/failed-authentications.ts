import { sha256 } from '@phds/service-kit/secrets';
import { toAddressKey } from './addresses.ts';
import { type BucketOptions, type CountingBucket, createBucket } from './bucket.ts';

const BY_ADDRESS = 'failed-address';
const BY_CREDENTIAL = 'failed-credential';

interface FailedAuthentication {
  readonly address: string;
  /** The presented client id, existing or not, or token with the form of an access token; undefined otherwise. */
  readonly credential: string | undefined;
  /** Whether the credential is a token that this service issued, and therefore not a guess. */
  readonly issued: boolean;
}

/**
 * Limits failed authentications. Successful ones are never counted or refused. Each credential and each
 * address has a bucket. One credential counts against its address at most once a minute, so one misconfigured secret cannot block a
 * partner's address. Failures without a credential always count against the address. Tokens that were issued but have ended never
 * do: they are not guesses.
 */
export class FailedAuthentications {
  readonly #byAddress: CountingBucket;
  readonly #byCredential: CountingBucket;
  readonly #onRefused: BucketOptions['onRefused'];

  constructor(options: Omit<BucketOptions, 'name'>) {
    this.#byAddress = createBucket({ ...options, name: BY_ADDRESS });
    this.#byCredential = createBucket({ ...options, name: BY_CREDENTIAL });
    this.#onRefused = options.onRefused;
  }

  /** Counts one failure. Returns null, or the seconds to wait when a bucket is empty. */
  async count({ address, credential, issued }: FailedAuthentication): Promise<number | null> {
    const addressKey = toAddressKey(address);
    // Checked first, so that an address over its limit cannot create a bucket for each further guess.
    const empty = issued ? null : this.#byAddress.findEmptyFor(addressKey);
    if (empty !== null) return this.#refuse(BY_ADDRESS, empty);
    if (credential !== undefined) {
      // Hashed because a credential may have any length.
      const own = await this.#byCredential.take(sha256(credential).toString('base64url'));
      if (!own.allowed) return this.#refuse(BY_CREDENTIAL, own.resetSeconds);
      const isFirst = own.remaining === this.#byCredential.perMinute - 1;
      if (issued || !isFirst) return null;
    }
    const byAddress = await this.#byAddress.take(addressKey);
    return byAddress.allowed ? null : this.#refuse(BY_ADDRESS, byAddress.resetSeconds);
  }

  #refuse(limit: string, seconds: number): number {
    this.#onRefused?.(limit);
    return seconds;
  }
}
