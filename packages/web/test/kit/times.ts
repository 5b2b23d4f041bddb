/** The time at which every page is opened: noon, wherever the tests run, so that a day is the same in every time zone. */
export const NOW = new Date(2026, 10, 27, 12).getTime();

/** An instant a number of minutes after NOW (RFC 3339). */
export const after = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();

/** An instant a number of days after NOW (RFC 3339). */
export const afterDays = (days: number): string => after(days * 24 * 60);
