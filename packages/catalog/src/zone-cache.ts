import { findTimeZone } from './time-zones.ts';

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
