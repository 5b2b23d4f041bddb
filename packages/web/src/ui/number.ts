const numberFormat = new Intl.NumberFormat();

/** A number in the browser's locale. */
export function formatNumber(value: number): string {
  return numberFormat.format(value);
}
