const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a host name means this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.has(hostname);
}

/** The host name of a `Host` header, or null when the header is none. */
export function findHostname(host: string | undefined): string | null {
  const url = host === undefined ? null : URL.parse(`http://${host}`);
  return url === null || url.pathname !== '/' || url.username !== '' ? null : url.hostname;
}

/**
 * A place to return to after signing in: an http URL of this machine under the very host name of the page, because
 * the session cookie goes nowhere else (a cookie ignores ports). Null for anything else.
 */
export function findReturnUrl(text: string, hostname: string): URL | null {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'http:' || url.username !== '' || url.password !== '') return null;
  return isLoopback(url.hostname) && url.hostname === hostname ? url : null;
}
