import type { Stack } from '@phds/local-stack/stack';
import { send } from './request.ts';

/** Gets a session of this user from the development identity provider, which creates the user if necessary. */
export async function signIn(stack: Pick<Stack, 'identityProviderUrl'>, user: string): Promise<string> {
  const { status, body, text } = await send(`${stack.identityProviderUrl}/sessions`, { json: { user } });
  if (status === 200) return body.token;
  throw new Error(`no session for ${user}: ${status} ${text}`);
}
