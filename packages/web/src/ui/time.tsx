const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' };
const instantFormat = new Intl.DateTimeFormat(undefined, { ...DAY, hour: '2-digit', minute: '2-digit' });
const clockFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
export const dayFormat = new Intl.DateTimeFormat(undefined, DAY);
const plainDayFormat = new Intl.DateTimeFormat(undefined, { ...DAY, timeZone: 'UTC' });

/** The browser's time zone, in which times are shown. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** An instant in the browser's zone, with the exact value as tooltip. */
export function Instant({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {formatInstant(at)}
    </time>
  );
}

export function formatInstant(at: string): string {
  return instantFormat.format(new Date(at));
}

/** The time of day of an instant in the browser's zone. */
export function Clock({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {clockFormat.format(new Date(at))}
    </time>
  );
}

/** The day of an instant in the browser's zone. */
export function Day({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {dayFormat.format(new Date(at))}
    </time>
  );
}

/** Formats a calendar date (YYYY-MM-DD), which has no time zone. */
export function formatDate(date: string): string {
  return plainDayFormat.format(new Date(`${date}T00:00:00Z`));
}

const dayOfMonthFormat = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

/** Formats a calendar date without its year. */
export function formatDayOfMonth(date: string): string {
  return dayOfMonthFormat.format(new Date(`${date}T00:00:00Z`));
}
