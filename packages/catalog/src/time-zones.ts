const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

// To the language and to Postgres most of these mean different zones: AST is Anchorage here and Halifax there, CET has a
// summer here and none there.
const ABBREVIATION = /^(?!UTC|GMT|UCT)[A-Z]{3}$/i;

const known = new Set<string>();
const MOST_REMEMBERED = 1_000;

/** Whether a text names an IANA time zone. Offsets such as `+01:00` are none: they have no summer. Nor are abbreviations. */
export function isTimeZone(text: string): boolean {
  if (known.has(text)) return true;
  if (!NAME.test(text) || ABBREVIATION.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
  } catch {
    return false;
  }
  // Spelled in capitals of all sorts a zone has more names than are worth remembering.
  if (known.size < MOST_REMEMBERED) known.add(text);
  return true;
}
