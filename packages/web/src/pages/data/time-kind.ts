import { isDate } from '@phds/catalog/instants';

const INSTANT = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Whether a text is an instant (RFC 3339), or a calendar date or month; null for any other, which may only look like one. */
export function findTimeKind(value: string): 'instant' | 'date' | null {
  if (isDate(value) || isDate(`${value}-01`)) return 'date';
  const [, date = ''] = INSTANT.exec(value) ?? [];
  return isDate(date) && !Number.isNaN(Date.parse(value)) ? 'instant' : null;
}
