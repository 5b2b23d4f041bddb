const numberFormat = new Intl.NumberFormat();

/** A number as this browser's reader writes it. */
export function formatNumber(value: number): string {
  return numberFormat.format(value);
}
