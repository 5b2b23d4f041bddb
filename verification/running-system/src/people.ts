import type { Stack } from '@phds/dev-stack/stack';
import { send } from './request.ts';

/** A session of this user, as the development identity provider hands it out. The user is made on the fly. */
export async function signIn(stack: Pick<Stack, 'identityProviderUrl'>, user: string): Promise<string> {
  const { status, body, text } = await send(`${stack.identityProviderUrl}/sessions`, { json: { user } });
  if (status === 200) return body.token;
  throw new Error(`no session for ${user}: ${status} ${text}`);
}
