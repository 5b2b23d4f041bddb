import type { Category } from '@phds/catalog/categories';
import { getMetric, METRICS, type Metric, type MetricKey } from '@phds/catalog/metrics';
import { Temporal } from 'temporal-polyfill';
import { createPublicIds, type IdPrefix } from '../../src/public-ids.ts';
import { startOfDate } from './clock.ts';
import type { Kept, Person } from './person.ts';

/** A read with valid parameters; null is absent. */
export interface Request {
  readonly endpoint: 'health-data' | 'aggregations' | 'trends' | 'weight';
  /** For health-data only. */
  readonly category: Category | null;
  readonly type: MetricKey | null;
  readonly bucket: 'hour' | 'day' | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly timeZone: string | null;
  readonly page: number;
  readonly pageSize: number;
  /** First day that the app sees. */
  readonly dataFrom: string | null;
}

/** An instant in Unix milliseconds; null is unbounded. */
export type Bound = number | null;

/** A date means midnight in the zone. */
export function toBound(text: string | null, zone: string): Bound {
  if (text === null) return null;
  return isDate(text) ? startOfDate(text, zone) : Temporal.Instant.from(text).epochMilliseconds;
}

/** Whether the window is refused because it ends before it starts. A date means midnight in the zone, for lists in UTC. */
export function isInverted({ endpoint, from, to, timeZone }: Request, ownZone: string): boolean {
  if (from === null || to === null) return false;
  // A day that a zone skips starts with the next one, so two dates are compared as dates.
  if (isDate(from) && isDate(to)) return from >= to;
  const zone = endpoint === 'aggregations' || endpoint === 'trends' ? (timeZone ?? ownZone) : 'UTC';
  return Number(toBound(from, zone)) >= Number(toBound(to, zone));
}

/** The first date that a bound allows or excludes: an instant within a UTC day rounds up to the next date. */
export function toDateBound(text: string | null): string | null {
  if (text === null || isDate(text)) return text;
  const moment = Temporal.Instant.from(text).toZonedDateTimeISO('UTC');
  const day = moment.startOfDay();
  return (moment.equals(day) ? day : day.add({ days: 1 })).toPlainDate().toString();
}

export function isDate(text: string): boolean {
  return text.length === 10;
}

/** The first instant that the app may see: midnight in the person's own zone. */
export function beginningOf(person: Person, request: Request): Bound {
  return toBound(request.dataFrom, person.zone);
}

export function isWithin<T extends string | number>(moment: T, from: T | null, to: T | null): boolean {
  return (from === null || moment >= from) && (to === null || moment < to);
}

/** Newest first; ties by type, source and the latest end. */
export function byNewest(a: Kept, b: Kept): number {
  return b.start - a.start || byText(a.type, b.type) || byText(a.source, b.source) || b.end - a.end;
}

function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The types of a summary, in catalog order. */
export function typesOf(request: Request): readonly Metric[] {
  return request.type === null ? METRICS : [getMetric(request.type)];
}

/** One page of a list in its envelope, with each item as shown. */
export function toPage<Item>(
  items: readonly Item[],
  { page, pageSize }: Request,
  show: (item: Item) => object,
) {
  const total = items.length;
  const data = items.slice((page - 1) * pageSize, page * pageSize).map(show);
  return { data, pagination: { page, pageSize, total, totalPages: Math.ceil(total / pageSize) } };
}

/** The ids for the asking app. They are opaque, so the service's own function is used. */
export const IDS = createPublicIds(Buffer.alloc(32, 1))('app_witness');

/** An id as that app receives it. */
export function toWireId(prefix: IdPrefix, id: string): string {
  return IDS.toPublicIds(prefix, [{ id }])[0] ?? '';
}

export function toUtcText(instant: number): string {
  return new Date(instant).toISOString();
}
