const TAG = /(?:W\/)?("[^"]*")/g;

/** Whether an `If-None-Match` value names this entity tag: weak comparison, a list, or `*` (RFC 9110 13.1.2). */
export function matchesEntityTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.startsWith('W/') ? etag.slice(2) : etag;
  for (const [, tag] of ifNoneMatch.matchAll(TAG)) if (tag === opaque) return true;
  return false;
}
