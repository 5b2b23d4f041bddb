import { formatDate } from '../../ui/time.tsx';
import { text } from './texts.ts';

/** How far back an app can look. */
export function datesText(firstDay: string | null): string {
  return firstDay === null ? text('allDates') : text('fromDay', { day: formatDate(firstDay) });
}
