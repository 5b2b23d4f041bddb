import type { IncomingMessage } from 'node:http';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Name of a cookie that only this host can set. The `__Host-` prefix requires https, which a plain loopback address does not have.
 */
export function toCookieName(publicUrl: string, name: string): string {
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'http:' && LOOPBACK.test(hostname) ? name : `__Host-${name}`;
}

/** Name of the cookie with the session. */
export function sessionCookieName(publicUrl: string): string {
  return toCookieName(publicUrl, 'session');
}

/** A `Set-Cookie` value. Browsers do not send the cookie with requests of other sites, except when the person comes from them. */
export function toSetCookie(name: string, value: string, maxAgeSeconds: number): string {
  const secure = name.startsWith('__Host-') ? '; Secure' : '';
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** A `Set-Cookie` value that removes a cookie. */
export function toClearCookie(name: string): string {
  return toSetCookie(name, '', 0);
}

/** The cookies of a request whose names start with `prefix`, in order; a name may occur several times. */
export function listCookies({ headers }: IncomingMessage, prefix: string): { name: string; value: string }[] {
  return (
    (headers.cookie ?? '')
      // Not `trim`: it removes more than browsers do, so that a cookie without the prefix could be read as one with it.
      .split(/; */)
      .filter((pair) => pair.startsWith(prefix) && pair.includes('='))
      .map((pair) => {
        const mark = pair.indexOf('=');
        return { name: pair.slice(0, mark), value: pair.slice(mark + 1) };
      })
  );
}

/** The value of the cookie with this name; null unless there is exactly one, and if it is empty. */
export function findCookie(request: IncomingMessage, name: string): string | null {
  const [cookie, ...others] = listCookies(request, `${name}=`);
  return cookie === undefined || others.length > 0 || cookie.value === '' ? null : cookie.value;
}
