/** One of our secrets (contract section 1) or a JWT, wherever it stands; its beginning is kept. */
const SECRET = /\b(phds_(?:cs|ac|at|rt)_[0-9A-Za-z]{4}|eyJ[\w-]{9})[\w.-]+/g;

const SHOWN_ITEMS = 2;

/** A text with every secret in it cut down to its beginning. */
export function shortenSecrets(text: string): string {
  return text.replaceAll(SECRET, '$1…');
}

/** A body for people: lists cut to their first items, secrets to their beginnings. */
export function shortenBody(body: unknown, indent: number | undefined): string {
  return shortenSecrets(JSON.stringify(cutLists(body), null, indent) ?? '');
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
