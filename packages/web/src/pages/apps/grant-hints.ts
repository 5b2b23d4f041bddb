import type { Grant } from '../../api/resources.ts';
import { localDay } from '../../ui/days.ts';
import { formatDay } from '../../ui/time.tsx';
import { text } from './texts.ts';

/** Since when an app has not read. */
export function unusedText({ grantedAt, lastAccessAt }: Grant): string {
  return lastAccessAt === null
    ? text('neverRead', { day: formatDay(grantedAt) })
    : text('notReadingSince', { day: formatDay(lastAccessAt) });
}

/** When an app has read last, at the end of a line. */
export function lastReadText({ lastAccessAt }: Pick<Grant, 'lastAccessAt'>): string {
  if (lastAccessAt === null) return text('nothingReadYet');
  const isToday = localDay(lastAccessAt) === localDay(Date.now());
  return isToday ? text('lastReadToday') : text('lastReadOn', { day: formatDay(lastAccessAt) });
}
