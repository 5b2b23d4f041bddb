/** The error format: RFC 6749 under `/oauth`, RFC 9457 elsewhere. */
export type Surface = 'oauth' | 'problem';

export function surfaceOf(url: string): Surface {
  return isUnder('/oauth', url) ? 'oauth' : 'problem';
}

/** Whether the path of a URL is `prefix` or is below it. */
export function isUnder(prefix: string, url: string): boolean {
  if (!url.startsWith(prefix)) return false;
  const next = url[prefix.length];
  return next === undefined || next === '/' || next === '?';
}
