import { sha256 } from '@phds/service-kit/secrets';
import { toAddressKey } from './addresses.ts';
import type { Allowance, Limits } from './limits.ts';

interface FailedAuthentication {
  readonly address: string;
  /** The presented client id, existing or not, or token with the form of an access token; undefined otherwise. */
  readonly credential: string | undefined;
  /** Whether the credential is a token that this service issued, and therefore not a guess. */
  readonly issued: boolean;
}

/**
 * Counts a failed authentication. Returns null, or the refusal when a limit is used up. Successful ones are never counted or refused. One
 * credential counts against its address at most once a minute, so one misconfigured secret cannot block a partner's address. Failures
 * without a credential always count against the address. Tokens that were issued but have ended never do: they are not guesses.
 */
export async function countFailure(
  limits: Limits,
  { address, credential, issued }: FailedAuthentication,
): Promise<Allowance | null> {
  const addressKey = toAddressKey(address);
  // Checked first, so that an address over its limit cannot create a key for each further guess.
  const empty = issued ? null : limits.findRefusal('failed-address', addressKey);
  if (empty !== null) return toPublic(limits, empty);
  if (credential !== undefined) {
    // Hashed because a credential may have any length.
    const own = await limits.take('failed-credential', sha256(credential).toString('base64url'));
    if (!own.allowed) return toPublic(limits, own);
    const isFirst = own.remaining === own.perMinute - 1;
    if (issued || !isFirst) return null;
  }
  const byAddress = await limits.take('failed-address', addressKey);
  return byAddress.allowed ? null : toPublic(limits, byAddress);
}

function toPublic(limits: Limits, refusal: Allowance): Allowance {
  limits.onRefused(refusal.name);
  return { ...refusal, name: 'failed-authentications', remaining: 0 };
}
