const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The current UTC day (YYYY-MM-DD). */
export function today(): string {
  return toDay(Date.now());
}

/** The day a number of days later (or earlier if negative). */
export function addDays(day: string, days: number): string {
  return toDay(Date.parse(day) + days * DAY_MS);
}

/** Every day from the first to the last, inclusive. */
export function daysBetween(first: string, last: string): string[] {
  const count = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) => addDays(first, index));
}

/** The calendar day (YYYY-MM-DD) of an instant (RFC 3339 or milliseconds) in the browser's zone. */
export function localDay(at: string | number): string {
  const date = new Date(at);
  return toDay(date.getTime() - date.getTimezoneOffset() * MINUTE_MS);
}

/**
 * The start of a day (YYYY-MM-DD) in the browser's zone, or of the day a number of days later: midnight, or the first instant of the
 * day if the zone skips midnight.
 */
export function startOfLocalDay(day: string, daysLater = 0): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + daysLater);
}

/** The UTC day of a time in milliseconds. */
export function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
