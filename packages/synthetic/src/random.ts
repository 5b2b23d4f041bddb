/** Deterministic random numbers for a seed, equal on every machine. Not for secrets. */
export interface Random {
  /** From `low` (inclusive) to `high` (exclusive). */
  between(low: number, high: number): number;
  /** A whole number from `low` to `high`, both inclusive. */
  integer(low: number, high: number): number;
  /** Normally distributed. */
  normal(mean: number, deviation: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** Random numbers that depend on the text only. */
export function createRandom(seed: string): Random {
  const next = createSequence(hash(seed));
  const between = (low: number, high: number) => low + (high - low) * next();
  const integer = (low: number, high: number) => Math.floor(between(low, high + 1));
  return {
    between,
    integer,
    // Box-Muller transform; 1 - next() is never 0.
    normal: (mean, deviation) =>
      mean + deviation * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    chance: (probability) => next() < probability,
    pick: (list) => list[integer(0, list.length - 1)] as (typeof list)[number],
  };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

/** A Weyl sequence through a 32-bit mixer: numbers from 0 (inclusive) to 1 (exclusive). */
function createSequence(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}
