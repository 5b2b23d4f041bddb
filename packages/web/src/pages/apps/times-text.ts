import { formatNumber } from '../../ui/number.ts';

/** How often, in words. */
export function timesText(count: number): string {
  return count === 1 ? 'once' : `${formatNumber(count)} times`;
}
