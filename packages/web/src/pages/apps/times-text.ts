import { formatNumber } from '../../ui/formats.ts';

/** A number of times as text. */
export function timesText(count: number): string {
  return count === 1 ? 'once' : `${formatNumber(count)} times`;
}
