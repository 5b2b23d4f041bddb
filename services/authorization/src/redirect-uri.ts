/** Maximum length of a redirect URI, in characters. */
const REDIRECT_URI_MAX_LENGTH = 512;

/** Maximum number of redirect URIs of an app. */
export const REDIRECT_URIS_MAX = 10;

/** Characters that RFC 3986 allows in a URI, except `#`. Excludes spaces, control characters, `\` and non-ASCII. */
const URI_CHARACTERS = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const ESCAPED_CONTROL = /%(?:[01][0-9A-F]|7F)/i;
const ESCAPED_DOT = /%2e/gi;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
/** Scheme, authority and rest as written, because URL parsers silently repair input (`http://127.1`, `https:host`, `a\b`). */
const WEB_URL = /^https?:\/\/([^/?]+)(?:[/?].*)?$/;
const UNICODE_AUTHORITY = /^https:\/\/([^/?#\\@\s]*[\u{80}-\u{10FFFF}][^/?#\\@\s]*)/u;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::([0-9]{1,5}))?((?:[/?].*)?)$/;

/**
 * The reason why a redirect URI cannot be registered, or null. Allowed are absolute https, http for loopback
 * only, and private-use schemes with a dot (RFC 8252 section 7.1). Ambiguous URIs are refused.
 */
export function findRedirectUriFault(uri: string): string | null {
  if (uri === '') return 'must not be empty';
  if (uri.length > REDIRECT_URI_MAX_LENGTH) return `must have at most ${REDIRECT_URI_MAX_LENGTH} characters`;
  if (uri.includes('#')) return 'must not have a fragment';
  if (uri.includes('*')) return 'must not contain a wildcard';
  if (uri.replace(ESCAPED_DOT, '.').includes('..')) return 'must not contain ".."';
  return findTextFault(uri) ?? findSchemeFault(uri);
}

/** The reason why a link of an app (home page, privacy policy) is invalid, or null. */
export function findWebUrlFault(url: string): string | null {
  if (url.length > REDIRECT_URI_MAX_LENGTH) return `must have at most ${REDIRECT_URI_MAX_LENGTH} characters`;
  const fault = findTextFault(url.replace('#', ''));
  if (fault !== null) return fault;
  const scheme = SCHEME.exec(url)?.[1];
  if (scheme !== 'https' && scheme !== 'http') return 'must be an absolute https URL';
  return findWebFault(url.split('#')[0] ?? '');
}

/**
 * Whether a presented redirect URI equals the registered one, byte for byte. Only the port of an http loopback URI may differ (RFC
 * 8252 section 7.3), because native apps use any free port.
 */
export function matchesRedirectUri(registered: string, presented: string): boolean {
  if (registered === presented) return true;
  const left = LOOPBACK.exec(registered);
  const right = LOOPBACK.exec(presented);
  if (left === null || right === null) return false;
  return left[1] === right[1] && left[3] === right[3] && isPort(right[2]);
}

/** Whether an app has registered a redirect URI. */
export function isRegistered(
  { redirectUris }: { readonly redirectUris: readonly string[] },
  presented: string,
): boolean {
  return redirectUris.some((uri) => matchesRedirectUri(uri, presented));
}

/**
 * Host of a redirect URI for display, as browsers resolve it (WHATWG URL): decoded, in lower case and in punycode. For a
 * private-use URI, its scheme.
 */
export function toRedirectHost(uri: string): string {
  if (WEB_URL.test(uri) && URL.canParse(uri)) return new URL(uri).host;
  return SCHEME.exec(uri)?.[1]?.toLowerCase() ?? '';
}

/**
 * Adds parameters to the query of a redirect URI, including private-use schemes. The existing URI is unchanged; absent values are
 * omitted.
 */
export function addQuery(
  uri: string,
  parameters: Readonly<Record<string, string | null | undefined>>,
): string {
  const added = Object.entries(parameters)
    .filter((entry): entry is [string, string] => entry[1] !== null && entry[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  if (!uri.includes('?')) return `${uri}?${added}`;
  return /[?&]$/.test(uri) ? uri + added : `${uri}&${added}`;
}

function findTextFault(uri: string): string | null {
  if (!URI_CHARACTERS.test(uri)) {
    return findUnicodeHostFault(uri) ?? 'contains characters that a URI may not have';
  }
  if (BAD_ESCAPE.test(uri)) return 'has a bad percent escape';
  return ESCAPED_CONTROL.test(uri) ? 'must not contain control characters' : null;
}

function findSchemeFault(uri: string): string | null {
  const scheme = SCHEME.exec(uri)?.[1];
  if (scheme === undefined) return 'must be an absolute URI';
  if (scheme === 'https' || scheme === 'http') return findWebFault(uri);
  if (!scheme.includes('.')) {
    return 'must use https, http on loopback, or a private-use scheme with a dot such as com.example.app';
  }
  const authority = /^[^:]+:\/\/([^/?]*)/.exec(uri)?.[1] ?? '';
  if (authority.includes('@')) return 'must not contain user information';
  if (authority.includes('%')) return 'must not have a percent escape in its host';
  return uri.length > scheme.length + 1 ? null : 'must have something after the scheme';
}

function findWebFault(uri: string): string | null {
  const authority = WEB_URL.exec(uri)?.[1];
  if (authority === undefined) return 'must be an absolute URI with a host';
  if (authority.includes('@')) return 'must not contain user information';
  if (!URL.canParse(uri)) return 'is not a valid URI';
  if (uri.startsWith('https:')) return findHostFault(authority);
  const loopback = LOOPBACK.exec(uri);
  return loopback !== null && isPort(loopback[2]) ? null : 'must use https; http is for loopback only';
}

/** A host that browsers interpret differently would be shown as one host and lead to another. */
function findHostFault(authority: string): string | null {
  const { host } = new URL(`https://${authority}`);
  return host === authority ? null : `must name its host as browsers resolve it: ${host}`;
}

/** The registrable punycode form of a host with non-ASCII letters. Null for every other text. */
function findUnicodeHostFault(uri: string): string | null {
  const authority = UNICODE_AUTHORITY.exec(uri)?.[1];
  if (authority === undefined || !URL.canParse(`https://${authority}`)) return null;
  return findHostFault(authority);
}

function isPort(text: string | undefined): boolean {
  return text === undefined || (Number(text) >= 1 && Number(text) <= 65_535);
}
