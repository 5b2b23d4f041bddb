import type { Narrowing } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { addDays, localDay, startOfLocalDay } from '../../ui/days.ts';

/** The person's choices; dates are YYYY-MM-DD or empty. */
export interface Draft {
  readonly withdrawn: ReadonlySet<string>;
  readonly lastDay: string;
  readonly dataFrom: string;
}

type Terms = Pick<Grant, 'scopes' | 'expiresAt' | 'dataFrom'>;

/** Why the form cannot be submitted: the id of a text, and the field if it is about one. */
export interface Fault {
  readonly field: 'lastDay' | 'dataFrom' | null;
  readonly id:
    | 'faultNothingLeft'
    | 'faultUnchanged'
    | 'faultLastDayOver'
    | 'faultLastDayLate'
    | 'dayFuture'
    | 'faultFirstDayEarly';
}

/** Why the form cannot be submitted at `now` (milliseconds), or null. */
export function findFault(terms: Terms, draft: Draft, now: number): Fault | null {
  const { scopes } = terms;
  if (scopes.every((scope) => draft.withdrawn.has(scope))) return { field: null, id: 'faultNothingLeft' };
  const isUnchanged = draft.withdrawn.size === 0 && draft.lastDay === '' && draft.dataFrom === '';
  if (isUnchanged) return { field: null, id: 'faultUnchanged' };
  return findLastDayFault(terms, draft, now) ?? findFirstDayFault(terms, draft, now);
}

function findLastDayFault({ expiresAt }: Terms, { lastDay }: Draft, now: number): Fault | null {
  if (lastDay === '') return null;
  const end = startOfLocalDay(lastDay, 1).getTime();
  if (end <= now) return { field: 'lastDay', id: 'faultLastDayOver' };
  return end > Date.parse(expiresAt) ? { field: 'lastDay', id: 'faultLastDayLate' } : null;
}

function findFirstDayFault(terms: Terms, { dataFrom }: Draft, now: number): Fault | null {
  if (dataFrom === '') return null;
  if (dataFrom > localDay(now)) return { field: 'dataFrom', id: 'dayFuture' };
  const isEarlier = terms.dataFrom !== null && dataFrom < terms.dataFrom;
  return isEarlier ? { field: 'dataFrom', id: 'faultFirstDayEarly' } : null;
}

/** The changes that the form makes. */
export function toNarrowing({ scopes }: Terms, { withdrawn, lastDay, dataFrom }: Draft): Narrowing {
  return {
    ...(withdrawn.size === 0 ? {} : { scopes: scopes.filter((scope) => !withdrawn.has(scope)) }),
    ...(lastDay === '' ? {} : { expiresAt: startOfLocalDay(lastDay, 1).toISOString() }),
    ...(dataFrom === '' ? {} : { dataFrom }),
  };
}

/** The earliest and latest selectable last day; undefined if sharing ends before the end of today. */
export function findLastDays({ expiresAt }: Terms, now: number): { min: string; max: string } | undefined {
  const min = localDay(now);
  const max = addDays(localDay(expiresAt), -1);
  return max < min ? undefined : { min, max };
}

/** The earliest and latest selectable first day of shared data. */
export function findFirstDays({ dataFrom }: Terms, now: number): { min?: string; max: string } {
  return { max: localDay(now), ...(dataFrom === null ? {} : { min: dataFrom }) };
}
