import type { Config } from '../../config.ts';

/** URL of the sign-in page. `return_to` is the current page, always on our own origin. */
export function toSignInUrl({ LOGIN_URL, PUBLIC_URL }: Config, requestUrl: string): string {
  const asked = new URL(requestUrl, PUBLIC_URL).searchParams.get('return_to') ?? '/';
  const origin = new URL(PUBLIC_URL).origin;
  const target = URL.canParse(asked, PUBLIC_URL) ? new URL(asked, PUBLIC_URL) : null;
  const login = new URL(LOGIN_URL);
  login.searchParams.set('return_to', target?.origin === origin ? target.href : `${PUBLIC_URL}/`);
  return login.href;
}
