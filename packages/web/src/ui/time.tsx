import { text } from '../texts/frame.ts';
import { localDay } from './days.ts';
import { dateFormat } from './formats.ts';

const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' };
const instantFormat = dateFormat({ ...DAY, hour: '2-digit', minute: '2-digit' });
const preciseFormat = dateFormat({ ...DAY, hour: '2-digit', minute: '2-digit', second: '2-digit' });
const clockFormat = dateFormat({ hour: '2-digit', minute: '2-digit' });
const dayFormat = dateFormat(DAY);
const plainDayFormat = dateFormat({ ...DAY, timeZone: 'UTC' });
const monthFormat = dateFormat({ month: 'short', year: 'numeric', timeZone: 'UTC' });

/** The browser's time zone, in which times are shown. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

interface At {
  readonly at: string;
}

/** An instant in the browser's zone, with the exact value as tooltip. */
function Time({ at, format }: At & { readonly format: (at: string) => string }) {
  return (
    <time dateTime={at} title={at}>
      {format(at)}
    </time>
  );
}

const formatPrecise = (at: string) => preciseFormat().format(new Date(at));

export const Instant = ({ at }: At) => <Time at={at} format={formatInstant} />;
/** To the second. */
export const PreciseInstant = ({ at }: At) => <Time at={at} format={formatPrecise} />;
export const Clock = ({ at }: At) => <Time at={at} format={formatClock} />;
export const Day = ({ at }: At) => <Time at={at} format={formatDay} />;

export function formatInstant(at: string): string {
  return instantFormat().format(new Date(at));
}

/** An instant within a sentence: “today at 12:00”, or “on 27 Nov 2026 at 12:00”. */
export function formatRecent(at: string): string {
  const isToday = localDay(at) === localDay(Date.now());
  return text(isToday ? 'todayAt' : 'dayAt', { day: formatDay(at), time: formatClock(at) });
}

/** The time of day of an instant in the browser's zone. */
export function formatClock(at: string): string {
  return clockFormat().format(new Date(at));
}

/** The day of an instant (RFC 3339 or Unix milliseconds) in the browser's zone. */
export function formatDay(at: string | number): string {
  return dayFormat().format(new Date(at));
}

/** The last day before an end, which may be midnight, in the browser's zone. */
export function formatLastDay(end: string | number): string {
  return formatDay(new Date(end).getTime() - 1);
}

/** Formats a calendar date (YYYY-MM-DD) or month (YYYY-MM), which has no time zone. */
export function formatDate(date: string): string {
  const format = date.length === 'YYYY-MM'.length ? monthFormat : plainDayFormat;
  return format().format(new Date(date));
}

const dayOfMonthFormat = dateFormat({ day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Formats a calendar date without its year. */
export function formatDayOfMonth(date: string): string {
  return dayOfMonthFormat().format(new Date(date));
}
