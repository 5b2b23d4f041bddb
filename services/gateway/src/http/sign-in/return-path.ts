const LONGEST = 1_000;
const ORIGIN = 'https://own.invalid';
/** A path in printable ASCII without backslashes, which browsers read as slashes. */
const PATH = /^\/(?!\/)[!-[\]-~]*$/;
const SIGN_IN = /^\/sign-(in|out)(\/|$)/;

/**
 * The page that a sign-in returns to: `asked` if it is the path of one of our own pages, else `/`. The path has no fragment, and
 * never begins with `//`, which a browser would read as another host. Pages of the sign-in itself are not returned to.
 */
export function toReturnPath(asked: string | null): string {
  if (asked === null || asked.length > LONGEST || !PATH.test(asked)) return '/';
  // Resolves `.` and `..`, also in their encoded forms, as a browser does.
  const url = URL.parse(asked, ORIGIN);
  if (url?.origin !== ORIGIN || url.pathname.startsWith('//') || SIGN_IN.test(url.pathname)) return '/';
  return url.pathname + url.search;
}
