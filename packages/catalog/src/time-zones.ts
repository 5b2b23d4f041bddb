import { TIME_ZONE_NAMES } from './time-zone-names.ts';

// Three-letter abbreviations other than UTC, GMT and UCT are excluded, because JavaScript and Postgres interpret most of them
// differently. For example, AST is Anchorage in one and Halifax in the other, and only one of them gives CET summer time.
const FORM = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

const namesByLowerCase = new Map(TIME_ZONE_NAMES.map((name) => [name.toLowerCase(), name]));

/** Whether Intl, which may be older than the list, knows a name. Bounded by the length of the list. */
const supported = new Map<string, boolean>();

/** What is wrong with a text that is no time zone. */
export const NO_TIME_ZONE = 'must be an IANA time zone such as Europe/Berlin';

/**
 * Finds an IANA time zone by its name in any case and returns the database's spelling. Returns null for anything else, including
 * abbreviations and offsets such as `+01:00`. Costs one look-up.
 */
export function findTimeZone(text: string): string | null {
  if (!FORM.test(text)) return null;
  const name = namesByLowerCase.get(text.toLowerCase());
  return name !== undefined && isSupported(name) ? name : null;
}

function isSupported(name: string): boolean {
  const known = supported.get(name);
  if (known !== undefined) return known;
  const found = canFormat(name);
  supported.set(name, found);
  return found;
}

function canFormat(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
