import { dateAt } from './clock.ts';
import type { Person } from './person.ts';
import {
  beginningOf,
  byNewest,
  isWithin,
  type Request,
  toBound,
  toDateBound,
  toPage,
  toUtcText,
  toWireId,
} from './request.ts';

/** Readings of a category, filtered by their start; a date in the window means midnight UTC. */
export function listReadings(person: Person, request: Request) {
  const since = beginningOf(person, request);
  const from = toBound(request.from, 'UTC');
  const to = toBound(request.to, 'UTC');
  const items = person.readings
    .filter(({ metric }) => metric.category === request.category)
    .filter(({ metric }) => request.type === null || metric.key === request.type)
    .filter(({ start }) => isWithin(start, since, null) && isWithin(start, from, to))
    .sort(byNewest);
  return toPage(items, request, ({ id, metric, value, start, source }) => ({
    id: toWireId('rdg', id),
    type: metric.name,
    value,
    unit: metric.unit,
    timestamp: toUtcText(start),
    source,
  }));
}

/** The latest weight of each date in the person's zone. */
export function listWeight(person: Person, request: Request) {
  const since = beginningOf(person, request);
  const from = toDateBound(request.from);
  const to = toDateBound(request.to);
  const seen = new Set<string>();
  const items = person.readings
    .filter(({ metric, start }) => metric.name === 'Weight' && isWithin(start, since, null))
    .sort(byNewest)
    .map(({ id, value, start }) => ({ id, value, date: dateAt(start, person.zone) }))
    .filter(({ date }) => isWithin(date, from, to) && !seen.has(date) && seen.add(date));
  return toPage(items, request, ({ id, value, date }) => ({
    id: toWireId('wgt', id),
    weightKg: value,
    date,
  }));
}
