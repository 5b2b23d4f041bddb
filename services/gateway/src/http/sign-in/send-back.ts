import type { ServerResponse } from 'node:http';
import type { Config } from '../../config.ts';
import type { SignInAttempt } from '../../domain/sign-in-attempt.ts';
import { redirect } from '../respond.ts';

/** Returns to the page after a sign-in. The address is absolute, so that the path cannot name another host. */
export function sendToPage(
  { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>,
  response: ServerResponse,
  path: string,
) {
  redirect(response, PUBLIC_URL + path);
}

/** Returns from a silent sign-in that failed: the page then offers to sign in. */
export function sendBack(
  config: Pick<Config, 'PUBLIC_URL'>,
  response: ServerResponse,
  { returnTo }: SignInAttempt,
): void {
  sendToPage(config, response, `${returnTo}#sign-in-required`);
}
