import type { Grant } from '../../api/resources.ts';
import { Soft, Tag } from '../../ui/card.tsx';
import { Notice } from '../../ui/notice.tsx';
import { formatDay, Instant } from '../../ui/time.tsx';
import { findDaysLeft, isUnused } from './grant-rules.ts';
import { Rich, text } from './texts.ts';

/** A label if sharing ends soon. */
export function EndsSoonTag({ grant }: { readonly grant: Grant }) {
  const days = findDaysLeft(grant, Date.now());
  return days === null ? null : <Tag tone="warn">{text('endsIn', { days })}</Tag>;
}

/** A warning if sharing ends soon, and how to go on. */
export function EndsSoon({ grant, app }: { readonly grant: Grant; readonly app: string }) {
  const days = findDaysLeft(grant, Date.now());
  if (days === null) return null;
  return (
    <Notice tone="warn">
      <strong>{text('endsIn', { days })}</strong>
      <span>
        <Rich id="endsOn" values={{ end: <Instant at={grant.expiresAt} /> }} /> {text('renew', { app })}
      </span>
    </Notice>
  );
}

/** A hint if the app no longer reads. */
export function UnusedHint({ grant }: { readonly grant: Grant }) {
  return isUnused(grant, Date.now()) ? <Soft>{unusedText(grant)}</Soft> : null;
}

function unusedText({ grantedAt, lastAccessAt }: Grant): string {
  return lastAccessAt === null
    ? text('neverRead', { day: formatDay(grantedAt) })
    : text('notReadingSince', { day: formatDay(lastAccessAt) });
}
