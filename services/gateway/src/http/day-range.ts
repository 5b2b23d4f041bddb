import { isDate } from '@phds/catalog/instants';
import type { ListQuery } from './list-query.ts';
import { date } from './openapi/fields.ts';

/** The parameters that `readDayRange` reads. */
export const DAY_RANGE_QUERY = {
  from: date.meta({ description: 'First day, inclusive.' }),
  to: date.meta({ description: 'Last day, inclusive.' }),
} as const;

/** Reads `from` and `to` (dates, both inclusive) of a list of days; empty when absent. Invalid values are reported to the query. */
export function readDayRange(query: ListQuery): { from: string; to: string } {
  const [from, to] = [readDate(query, 'from'), readDate(query, 'to')];
  if (from !== '' && to !== '' && from > to) query.fault('from', 'must not be after "to"');
  return { from, to };
}

function readDate(query: ListQuery, name: string): string {
  const text = query.find(name);
  if (text === undefined) return '';
  if (!isDate(text)) query.fault(name, 'must be a date (2026-03-01)');
  return text;
}
