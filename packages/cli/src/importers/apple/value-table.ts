/** Whether a key is new, or how its value compares with the first one. */
export type Standing = 'first' | 'repeated' | 'contradicted';

const FIRST_SLOTS = 64;
const FULLEST = 0.75;

/**
 * Stores a number, to seven digits, for each key (a non-negative safe integer). Uses open addressing over typed arrays with 16 to
 * 32 bytes a key; a Map needs several times the memory and slows garbage collection.
 */
export class ValueTable {
  // 0 marks an empty slot, so keys are stored one higher.
  #keys = new Float64Array(FIRST_SLOTS);
  #values = new Float32Array(FIRST_SLOTS);
  #count = 0;

  /** Stores the value of a new key; the value of a known key is kept. */
  compare(key: number, value: number): Standing {
    const slot = slotOf(this.#keys, key + 1);
    if (this.#keys[slot] !== 0)
      return this.#values[slot] === Math.fround(value) ? 'repeated' : 'contradicted';
    this.#keys[slot] = key + 1;
    this.#values[slot] = value;
    this.#count += 1;
    if (this.#count > this.#keys.length * FULLEST) this.#grow();
    return 'first';
  }

  #grow(): void {
    const [keys, values] = [new Float64Array(this.#keys.length * 2), new Float32Array(this.#keys.length * 2)];
    for (const [index, key] of this.#keys.entries()) {
      if (key === 0) continue;
      const slot = slotOf(keys, key);
      keys[slot] = key;
      values[slot] = this.#values[index] ?? 0;
    }
    this.#keys = keys;
    this.#values = values;
  }
}

/** The slot of a key, occupied or free. The number of slots is a power of two. */
function slotOf(keys: Float64Array, key: number): number {
  const mask = keys.length - 1;
  const mixed = Math.imul(key / 2 ** 20, 0x9e3779b1) ^ Math.imul(key % 2 ** 20, 0x85ebca6b);
  let slot = (mixed ^ (mixed >>> 15)) & mask;
  while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & mask;
  return slot;
}
