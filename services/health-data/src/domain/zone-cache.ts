import { findTimeZone } from '@phds/catalog/time-zones';

/** Zones that are remembered; there are fewer IANA names. */
const MAX_ZONES = 1_000;

/**
 * What a zone comes to, computed once for all spellings of its name. A name that an earlier release stored and that is no longer accepted
 * stands for itself.
 */
export class ZoneCache<Value> {
  readonly #compute: (timeZone: string) => Value;
  readonly #values = new Map<string, Value>();

  /** `compute` throws RangeError for an unknown zone; then nothing is remembered. */
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
