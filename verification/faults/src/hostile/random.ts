/** Deterministic random choices for a seed. */
export interface Random {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** One of these. */
  of<Item>(items: readonly Item[]): Item;
  /** True in one of `n` cases. */
  oneIn(n: number): boolean;
}

/** Mulberry32: small, fast, and random enough to vary requests. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    of: (items) => items[below(items.length)] as (typeof items)[number],
    oneIn: (n) => below(n) === 0,
  };
}
