import type { Grant } from '../../api/resources.ts';
import { Soft } from '../../ui/card.tsx';
import { localDay } from '../../ui/days.ts';
import { Notice } from '../../ui/notice.tsx';
import { formatDay, Instant } from '../../ui/time.tsx';
import { findDaysLeft, isUnused } from './grant-rules.ts';
import { Rich, text } from './texts.ts';

/** A warning if sharing ends soon, and how to go on. */
export function EndsSoon({ grant, app }: { readonly grant: Grant; readonly app: string }) {
  const days = findDaysLeft(grant, Date.now());
  if (days === null) return null;
  return (
    <Notice tone="warn" title={endsInText(days)}>
      <span>
        <Rich id="endsOn" values={{ end: <Instant at={grant.expiresAt} /> }} /> {text('renew', { app })}
      </span>
    </Notice>
  );
}

export function endsInText(days: number): string {
  return text('endsIn', { days });
}

/** A hint if the app no longer reads. */
export function UnusedHint({ grant }: { readonly grant: Grant }) {
  return isUnused(grant, Date.now()) ? <Soft>{unusedText(grant)}.</Soft> : null;
}

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
