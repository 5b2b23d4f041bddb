/** A bound of a time window: a calendar date, or an instant. */
export interface TimeBound {
  readonly kind: 'date' | 'instant';
  /** As forwarded to health-data: `YYYY-MM-DD`, or RFC 3339 with its offset. */
  readonly text: string;
  /** Milliseconds since the epoch; for a date, midnight UTC. */
  readonly time: number;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Parses a date or an RFC 3339 instant. Returns null for anything else, including dates that do not exist. */
export function findTimeBound(text: string): TimeBound | null {
  if (DATE.test(text)) {
    return isCalendarDate(text) ? { kind: 'date', text, time: Date.parse(text) } : null;
  }
  // An unencoded `+` in a query string is decoded as a space.
  const repaired = text.replace(/ (\d{2}:\d{2})$/, '+$1');
  const match = INSTANT.exec(repaired);
  if (match === null || !isCalendarDate(match[1] ?? '')) return null;
  return { kind: 'instant', text: repaired, time: Date.parse(repaired.toUpperCase()) };
}

/** Whether `YYYY-MM-DD` is a real date (2026-02-30 is not). */
export function isCalendarDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
