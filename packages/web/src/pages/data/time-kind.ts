const INSTANT = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;
const DATE = /^\d{4}-\d\d-\d\d$/;

/** Whether a text is an instant (RFC 3339) or a calendar date; null for any other, which may only look like one. */
export function findTimeKind(value: string): 'instant' | 'date' | null {
  if (DATE.test(value)) return isDate(value) ? 'date' : null;
  const [, date = ''] = INSTANT.exec(value) ?? [];
  return isDate(date) && !Number.isNaN(Date.parse(value)) ? 'instant' : null;
}

/** Whether the calendar has this day. `Date` takes the 30th of February for a day of March. */
function isDate(date: string): boolean {
  const at = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(date);
}
