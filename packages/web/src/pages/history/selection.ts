import { isScope } from '@phds/catalog/scopes';
import type { AccessFilter, DayFilter } from '../../api/accesses.ts';
import { addDays, localDay, startOfLocalDay } from '../../ui/days.ts';

export const ALL = 'all';
const USUAL_DAYS = 30;
// The maximum number of days that the service returns.
const LONGEST_DAYS = 366;

/** The selected filters; `all` and an empty day mean no filter. Days are those of the browser's zone. */
export interface Selection {
  readonly clientId: string;
  readonly scope: string;
  readonly from: string;
  /** The last day, inclusive. */
  readonly to: string;
}

export const EVERYTHING: Selection = { clientId: ALL, scope: ALL, from: '', to: '' };

/** The numbers of days that the page offers. */
export const PERIODS = [7, USUAL_DAYS, 90] as const;

/** The same filters for so many days until today. */
export function toPeriod(selection: Selection, days: number): Selection {
  const from = days === USUAL_DAYS ? '' : addDays(localDay(Date.now()), 1 - days);
  return { ...selection, from, to: '' };
}

/** The offered number of days that is selected; undefined for other days. */
export function findPeriod({ from, to }: Selection): number | undefined {
  return PERIODS.find((days) => {
    const period = toPeriod(EVERYTHING, days);
    return period.from === from && period.to === to;
  });
}

/** The filter for the accesses of these days, from midnight to midnight. */
export function toFilter({ from, to, ...parts }: DayFilter): AccessFilter {
  const [start, end] = [startOfLocalDay(from), startOfLocalDay(to, 1)];
  return { ...parts, from: start.toISOString(), to: end.toISOString() };
}

/** The filter for the days: 30 days until today unless other days are selected, a year at most. */
export function toDayFilter(selection: Selection): DayFilter {
  const from = findDay(selection.from);
  const today = localDay(Date.now());
  const latest = from !== null && from > today ? from : today;
  const to = findDay(selection.to) ?? latest;
  const earliest = addDays(to, 1 - LONGEST_DAYS);
  const first = from ?? addDays(to, 1 - USUAL_DAYS);
  // biome-ignore lint/complexity/useMathMinMax: days are texts
  return { ...toParts(selection), from: first < earliest ? earliest : first, to };
}

/** The same filters for as many days before a period. */
export function toDaysBefore(selection: Selection, { from, to }: DayFilter): Selection {
  const length = countDays({ from, to });
  return { ...selection, from: addDays(from, -length), to: addDays(from, -1) };
}

export function countDays({ from, to }: Pick<DayFilter, 'from' | 'to'>): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
}

function toParts({ clientId, scope }: Selection) {
  return { ...(clientId === ALL ? {} : { clientId }), ...(isScope(scope) ? { scope } : {}) };
}

/** A given day; null if its year is still being typed (0020-11-21). */
function findDay(day: string): string | null {
  return /^[12]\d{3}-/.test(day) ? day : null;
}
