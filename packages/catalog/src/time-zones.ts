import { TIME_ZONE_NAMES } from './time-zone-names.ts';

// Three-letter abbreviations are not among the names, except UTC, GMT and UCT: JavaScript and Postgres take most of them for different
// zones. AST is Anchorage in one and Halifax in the other, CET has summer time in one and not in the other.
const FORM = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

const namesByLowerCase = new Map(TIME_ZONE_NAMES.map((name) => [name.toLowerCase(), name]));

/** Names that were looked up, and whether Intl knows them: it may be older than the list. Grows to the length of the list at most. */
const supported = new Map<string, boolean>();

/**
 * Finds an IANA time zone by its name in upper and lower case, and returns the name as the IANA database spells it. Null for anything
 * else, offsets such as `+01:00` and abbreviations included; that costs one look-up.
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
