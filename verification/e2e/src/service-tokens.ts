import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Stack } from '@phds/local-stack/stack';
import { CALLERS, type Caller } from '@phds/service-kit/keys/key-files';
import { SignJWT } from 'jose';

/** What a service token says; the defaults are those of a valid one. */
interface ServiceTokenClaims {
  readonly caller: string;
  readonly audience: string;
  /** Name in the key set; the caller by default. */
  readonly kid?: string;
  readonly typ?: string;
  /** Seconds from now. */
  readonly issuedIn?: number;
  /** Seconds from the issue. */
  readonly lifetime?: number;
}

/** The private keys with which the callers sign their service tokens. */
export async function readServiceKeys({
  keys,
}: Pick<Stack, 'keys'>): Promise<Readonly<Record<Caller, KeyObject>>> {
  const read = async (caller: Caller) =>
    [caller, createPrivateKey(await readFile(keys.servicePrivateKeys[caller], 'utf8'))] as const;
  return Object.fromEntries(await Promise.all(CALLERS.map(read))) as Record<Caller, KeyObject>;
}

/** Signs a service token with any key and any claims. */
export function signServiceToken(key: KeyObject, claims: ServiceTokenClaims): Promise<string> {
  const { caller, audience, kid = caller, typ = 'service+jwt', issuedIn = 0, lifetime = 300 } = claims;
  const iat = Math.floor(Date.now() / 1000) + issuedIn;
  return new SignJWT({ iss: caller, sub: caller, aud: audience, iat, exp: iat + lifetime })
    .setProtectedHeader({ alg: 'EdDSA', typ, kid })
    .sign(key);
}
