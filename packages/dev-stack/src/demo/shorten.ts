const SECRET_NAMES =
  'client_secret|clientSecret|access_token|refresh_token|token|code|refreshToken|accessToken';
const SECRET_VALUE = new RegExp(`("(?:${SECRET_NAMES})":\\s*"[^"]{12})[^"]+"`, 'g');
const SECRET_PARAMETER = /([?&]code=[^&"\s]{12})[^&"\s]+/g;
const SECRET_HEADER = /^((?:Bearer|Basic) .{12}).+$/;

const SHOWN_ITEMS = 2;

/** The value of an Authorization header with its secret cut off. */
export function shortenHeader(value: string): string {
  return value.replace(SECRET_HEADER, '$1…');
}

/** A body for people: lists cut to their first items, secrets to their first characters. */
export function shortenBody(body: unknown, indent: number | undefined): string {
  const text = JSON.stringify(cutLists(body), null, indent) ?? '';
  return text.replaceAll(SECRET_VALUE, '$1…"').replaceAll(SECRET_PARAMETER, '$1…');
}

/** A text on one line of at most so many characters. */
export function toLine(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

function cutLists(value: unknown): unknown {
  if (Array.isArray(value)) {
    const more = value.length - SHOWN_ITEMS;
    // A list of plain texts, such as scopes, is worth seeing whole.
    if (more <= 1 || value.every((item) => typeof item === 'string')) return value.map(cutLists);
    return [...value.slice(0, SHOWN_ITEMS).map(cutLists), `… ${more} more`];
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutLists(each)]));
}
