import { isDate } from '@phds/catalog/instants';

const INSTANT = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Whether a text is an instant (RFC 3339), a calendar date, or its month; null for any other, which may only look like one. */
export function findTimeKind(value: string): 'instant' | 'date' | 'month' | null {
  if (isDate(value)) return 'date';
  if (isDate(`${value}-01`)) return 'month';
  const [, date = ''] = INSTANT.exec(value) ?? [];
  return isDate(date) && !Number.isNaN(Date.parse(value)) ? 'instant' : null;
}
