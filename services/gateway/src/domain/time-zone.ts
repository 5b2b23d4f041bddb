const NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;
const known = new Set<string>();
const MOST_REMEMBERED = 1_000;

/** Whether a text names an IANA time zone; offsets such as `+02:00` do not. */
export function isTimeZone(text: string): boolean {
  if (known.has(text)) return true;
  if (!NAME.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
  } catch {
    return false;
  }
  // Spelled in capitals of all sorts a zone has more names than are worth remembering.
  if (known.size < MOST_REMEMBERED) known.add(text);
  return true;
}
