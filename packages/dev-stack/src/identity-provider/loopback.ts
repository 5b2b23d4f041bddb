const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a host name refers to this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.has(hostname);
}

/** The host name of a `Host` header; null when the header is invalid. */
export function findHostname(host: string | undefined): string | null {
  const url = host === undefined ? null : URL.parse(`http://${host}`);
  return url === null || url.pathname !== '/' || url.username !== '' ? null : url.hostname;
}

/**
 * A return address after sign-in: an http URL on this machine with the same host name as the page, because the session cookie is
 * limited to it (cookies ignore ports). Null for anything else.
 */
export function findReturnUrl(text: string, hostname: string): URL | null {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'http:' || url.username !== '' || url.password !== '') return null;
  return isLoopback(url.hostname) && url.hostname === hostname ? url : null;
}
