import type { Narrowing } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { addDays, localDay } from '../../ui/days.ts';

/** The person's choices; dates are YYYY-MM-DD or empty. */
export interface Draft {
  readonly withdrawn: ReadonlySet<string>;
  readonly lastDay: string;
  readonly dataFrom: string;
}

type Terms = Pick<Grant, 'scopes' | 'expiresAt'>;

/** Why the form cannot be submitted at `now` (milliseconds), or null. */
export function findFault({ scopes, expiresAt }: Terms, draft: Draft, now: number): string | null {
  if (scopes.every((scope) => draft.withdrawn.has(scope)))
    return 'To take away everything, stop sharing above.';
  if (draft.lastDay !== '') {
    const end = endOf(draft.lastDay).getTime();
    if (end <= now)
      return 'The last day is over. Choose today or a later day. To end now, stop sharing above.';
    if (end > Date.parse(expiresAt)) return 'Sharing ends before that day is over. Choose an earlier day.';
  }
  const isUnchanged = draft.withdrawn.size === 0 && draft.lastDay === '' && draft.dataFrom === '';
  return isUnchanged ? 'Take a tick away or choose a day first.' : null;
}

/** The changes that the form makes. */
export function toNarrowing({ scopes }: Terms, { withdrawn, lastDay, dataFrom }: Draft): Narrowing {
  return {
    ...(withdrawn.size === 0 ? {} : { scopes: scopes.filter((scope) => !withdrawn.has(scope)) }),
    ...(lastDay === '' ? {} : { expiresAt: endOf(lastDay).toISOString() }),
    ...(dataFrom === '' ? {} : { dataFrom }),
  };
}

/** The earliest and latest selectable last day; undefined if sharing ends before the end of today. */
export function findLastDays({ expiresAt }: Terms, now: number): { min: string; max: string } | undefined {
  const min = localDay(new Date(now).toISOString());
  const max = addDays(localDay(expiresAt), -1);
  return max < min ? undefined : { min, max };
}

/** The end of a day in the browser's zone: midnight, or the first instant of the next day if the zone skips midnight. */
function endOf(day: string): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + 1);
}
