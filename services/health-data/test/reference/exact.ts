// Values are multiples of the last decimal of their type. In these units, sums and comparisons are exact.

/** Converts a value to units of its last decimal. */
export function toUnits(value: number, decimals: number): number {
  return Math.round(value * 10 ** decimals);
}

export function fromUnits(units: number, decimals: number): number {
  return Number(`${units}e-${decimals}`);
}

/** The average with one more decimal, rounding halves away from zero; no type has negative values. */
export function averageOf(sum: number, count: number, decimals: number): number {
  const twice = 20n * BigInt(sum);
  return fromUnits(Number((twice + BigInt(count)) / (2n * BigInt(count))), decimals + 1);
}

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
