/** The zone of the browser in which the tests open pages. */
const ZONE = 'Europe/Berlin';

/** The calendar day of an instant (YYYY-MM-DD) in the browser's zone. */
export function dayOfBrowser(instant: number): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: ZONE }).format(instant);
}
