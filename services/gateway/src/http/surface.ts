/** `/oauth` has to speak RFC 6749; everything else speaks RFC 9457. */
export type Surface = 'oauth' | 'problem';

/** The surface that answers requests for a URL. */
export function surfaceOf(url: string): Surface {
  return isUnder('/oauth', url) ? 'oauth' : 'problem';
}

/** Whether the path of a URL is `prefix` or continues it with another segment. */
export function isUnder(prefix: string, url: string): boolean {
  if (!url.startsWith(prefix)) return false;
  const next = url[prefix.length];
  return next === undefined || next === '/' || next === '?';
}
