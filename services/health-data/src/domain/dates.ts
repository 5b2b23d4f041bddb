import { isDate } from '@phds/catalog/instants';

/** The UTC calendar date of an instant, YYYY-MM-DD; empty for an invalid one. */
export function toDateText(at: Date): string {
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, 10);
}

/** The date so many days later, or earlier for a negative number. */
export function addDays(date: string, days: number): string {
  const midnight = new Date(`${date}T00:00:00Z`);
  midnight.setUTCDate(midnight.getUTCDate() + days);
  return toDateText(midnight);
}

/** The first day that a date, possibly partial (`2019`, `2019-05`), may mean; null when it is no date. */
export function findFirstDay(partialDate: string): string | null {
  const full = `${partialDate}-01-01`.slice(0, 10);
  const lengthFits = partialDate.length === 4 || partialDate.length === 7 || partialDate.length === 10;
  return lengthFits && isDate(full) ? full : null;
}
