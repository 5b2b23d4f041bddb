import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Caller } from '@phds/dev-stack/key-files';
import type { Stack } from '@phds/dev-stack/stack';
import { SignJWT } from 'jose';

/** Signs a service token with the right key and any lifetime. */
export async function signServiceToken(
  { keys }: Pick<Stack, 'keys'>,
  caller: Caller,
  audience: string,
  seconds: number,
): Promise<string> {
  const key = createPrivateKey(await readFile(keys.servicePrivateKeys[caller], 'utf8'));
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: caller, sub: caller, aud: audience, iat: now, exp: now + seconds })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'service+jwt', kid: caller })
    .sign(key);
}
