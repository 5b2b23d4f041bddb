/** Matches a secret of ours or a JWT anywhere in a text; group 1 is the part to keep. */
const SECRET = /\b(phds_(?:cs|ac|at|rt)_[0-9A-Za-z]{4}|eyJ[\w-]{9})[\w.-]+/g;

const SHOWN_ITEMS = 2;

/** Shortens every secret in a text to its beginning. */
export function shortenSecrets(text: string): string {
  return text.replaceAll(SECRET, '$1…');
}

/** Formats a body for people: long lists and secrets are shortened. */
export function shortenBody(body: unknown, indent: number | undefined): string {
  return shortenSecrets(JSON.stringify(cutLists(body), null, indent) ?? '');
}

/** Formats a text as one line with at most `length` characters. */
export function toLine(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

function cutLists(value: unknown): unknown {
  if (Array.isArray(value)) {
    const more = value.length - SHOWN_ITEMS;
    // Lists of plain strings, such as scopes, are shown whole.
    if (more <= 1 || value.every((item) => typeof item === 'string')) return value.map(cutLists);
    return [...value.slice(0, SHOWN_ITEMS).map(cutLists), `… ${more} more`];
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutLists(each)]));
}
