const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The UTC day (YYYY-MM-DD) of today. */
export function today(): string {
  return toDay(Date.now());
}

/** The day that comes so many days later, or earlier. */
export function addDays(day: string, days: number): string {
  return toDay(Date.parse(day) + days * DAY_MS);
}

/** Every day from the first to the last. */
export function daysBetween(first: string, last: string): string[] {
  const count = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) => addDays(first, index));
}

/** The calendar day (YYYY-MM-DD) of an instant in this browser's zone. */
export function localDay(at: string): string {
  const date = new Date(at);
  return toDay(date.getTime() - date.getTimezoneOffset() * MINUTE_MS);
}

/** The UTC day of a time in milliseconds. */
export function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
