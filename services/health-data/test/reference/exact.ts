// Values are multiples of the last decimal of their type: counted in those, sums and comparisons are exact.

/** How often the last decimal goes into a value. */
export function toUnits(value: number, decimals: number): number {
  return Math.round(value * 10 ** decimals);
}

export function fromUnits(units: number, decimals: number): number {
  return Number(`${units}e-${decimals}`);
}

/** The average with one decimal more, halves away from zero; no type has values below zero. */
export function averageOf(sum: number, count: number, decimals: number): number {
  const twice = 20n * BigInt(sum);
  return fromUnits(Number((twice + BigInt(count)) / (2n * BigInt(count))), decimals + 1);
}

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
