import { isCategory } from '@phds/catalog/categories';
import { getMetric, type Metric } from '@phds/catalog/metrics';
import fc from 'fast-check';
import { toDateText, ZONES } from './moments.ts';
import { isDate, type Request } from './request.ts';

/** A request whose page is chosen once the length of the list is known. */
export interface Asked {
  readonly request: Omit<Request, 'page'>;
  /** Which page: counted from the first or the last, in the middle, or beyond the end. */
  readonly page: { readonly from: 'first' | 'last' | 'middle' | 'beyond'; readonly steps: number };
}

/** The chosen page of a list with this total. */
export function toRequest({ request, page }: Asked, total: number): Request {
  const last = Math.max(1, Math.ceil(total / request.pageSize));
  const meant = {
    first: 1 + page.steps,
    middle: Math.ceil(last / 2) + page.steps,
    last: last - page.steps,
    beyond: last + 1 + page.steps * 1_000,
  }[page.from];
  return { ...request, page: Math.max(1, meant) };
}

const FAR = ['0002-01-01', '1900-01-01', '9998-12-31'];

/** A bound of a window: a date, an instant at or beside full units of the clock, with an offset, or far away. */
function bound(moment: fc.Arbitrary<number>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: moment.map(toDateText) },
    { weight: 3, arbitrary: moment.map((instant) => new Date(instant).toISOString()) },
    {
      weight: 2,
      arbitrary: moment.map((instant) => new Date(instant + 20_700_000).toISOString().replace('Z', '+05:45')),
    },
    { weight: 1, arbitrary: fc.constantFrom(...FAR) },
  );
}

const page = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ from: 'first' as const, steps: 0 }) },
  {
    weight: 3,
    arbitrary: fc.record({
      from: fc.constantFrom('first' as const, 'middle' as const, 'last' as const),
      steps: fc.nat({ max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ from: fc.constant('beyond' as const), steps: fc.nat({ max: 9 }) }) },
);

const pageSize = fc.oneof(fc.constantFrom(1, 2, 3, 7, 20), fc.constant(100));

/** Random requests about types, around certain times. */
export function questions(metrics: readonly Metric[], moment: fc.Arbitrary<number>): fc.Arbitrary<Asked> {
  const type = fc.oneof(fc.constantFrom(...metrics.map(({ key }) => key)), fc.constant(null));
  const category = fc.constantFrom(...new Set(metrics.map((metric) => metric.category)));
  return fc
    .record({
      endpoint: fc.oneof(
        { weight: 2, arbitrary: fc.constant('health-data' as const) },
        { weight: 3, arbitrary: fc.constant('aggregations' as const) },
        { weight: 4, arbitrary: fc.constant('trends' as const) },
        { weight: 1, arbitrary: fc.constant('weight' as const) },
      ),
      category,
      type,
      bucket: fc.constantFrom('hour' as const, 'day' as const, null),
      bounds: fc.tuple(fc.option(bound(moment), { freq: 2 }), fc.option(bound(moment), { freq: 2 })),
      timeZone: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.constantFrom(...ZONES)),
      dataFrom: fc.option(moment.map(toDateText), { freq: 2 }),
      page,
      pageSize,
    })
    .map(({ bounds, page: which, ...asked }) => ({
      request: { ...toTaken(asked), ...inOrder(bounds) },
      page: which,
    }));
}

type Anything = Omit<Request, 'page' | 'from' | 'to' | 'category'> & { readonly category: string };

/** Omits the parameters that an endpoint does not accept. */
function toTaken({ category, ...asked }: Anything) {
  const { endpoint, type } = asked;
  const summary = endpoint === 'aggregations' || endpoint === 'trends';
  const own = endpoint === 'health-data' && isCategory(category) ? category : null;
  const taken = summary || (own !== null && type !== null && getMetric(type).category === own);
  return {
    ...asked,
    category: own,
    type: taken ? type : null,
    bucket: endpoint === 'trends' ? asked.bucket : null,
    timeZone: summary ? asked.timeZone : null,
  };
}

/** Most windows should be valid. The order of a date and an instant depends on the zone, so these are left unsorted. */
function inOrder([from, to]: readonly [string | null, string | null]) {
  if (from === null || to === null || isDate(from) !== isDate(to)) return { from, to };
  if (Date.parse(from) < Date.parse(to)) return { from, to };
  return Date.parse(from) === Date.parse(to) ? { from, to: null } : { from: to, to: from };
}
