import { TIME_ZONE_NAMES } from './time-zone-names.ts';

// Three-letter abbreviations other than UTC, GMT and UCT are excluded, because JavaScript and Postgres interpret most of them
// differently. For example, AST is Anchorage in one and Halifax in the other, and only one of them gives CET summer time.
const FORM = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

const namesByLowerCase = new Map(TIME_ZONE_NAMES.map((name) => [name.toLowerCase(), name]));

/** Whether Intl, which may be older than the list, knows a name. Bounded by the length of the list. */
const supported = new Map<string, boolean>();

/** What is wrong with a text that is no time zone. */
export const NO_TIME_ZONE =
  'must be an IANA time zone such as Europe/Berlin, and no abbreviation such as CET';

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

/** Maximum number of cached zones; there are fewer IANA names. */
const MAX_ZONES = 1_000;

/**
 * A value computed once for each zone, for all spellings of its name. A name stored by an earlier release that is no longer
 * accepted is used as is.
 */
export class ZoneCache<Value> {
  readonly #compute: (timeZone: string) => Value;
  readonly #values = new Map<string, Value>();

  /** `compute` throws RangeError for an unknown zone, which is not cached. */
  constructor(compute: (timeZone: string) => Value) {
    this.#compute = compute;
  }

  get(timeZone: string): Value {
    const found = this.#values.get(timeZone);
    return found ?? this.#find(findTimeZone(timeZone) ?? timeZone);
  }

  #find(name: string): Value {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const value = this.#compute(name);
    if (this.#values.size >= MAX_ZONES) this.#values.clear();
    this.#values.set(name, value);
    return value;
  }
}
