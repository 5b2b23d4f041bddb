import { formatNumber } from '../../ui/number.ts';

/** A number of times as text. */
export function timesText(count: number): string {
  return count === 1 ? 'once' : `${formatNumber(count)} times`;
}
