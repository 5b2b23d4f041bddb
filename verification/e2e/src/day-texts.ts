const DAY_MS = 86_400_000;
/** The zone of the browser in which the tests open pages. */
const ZONE = 'Europe/Berlin';

const format = (instant: number, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone }).format(
    instant,
  );

/** The calendar day of an instant (YYYY-MM-DD) in the browser's zone. */
export function dayOfBrowser(instant: number): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: ZONE }).format(instant);
}

/** The day of an instant as the English pages show it. */
export function dayText(instant: number): string {
  return format(instant, ZONE);
}

/**
 * The calendar day a number of days before an instant's, as the English pages show it. It is counted in days: one with a change of the
 * clock has 23 or 25 hours.
 */
export function dayTextBefore(instant: number, days: number): string {
  return format(Date.parse(dayOfBrowser(instant)) - days * DAY_MS, 'UTC');
}

/** A text for the time before a page was opened and for the present: midnight may pass in between, and the page may show either. */
export function textsSince(openedAt: number, toText: (now: number) => string): string[] {
  return [toText(openedAt), toText(Date.now())];
}
