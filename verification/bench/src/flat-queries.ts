/** A read that must cost the same for every user. */
export interface FlatQuery {
  readonly name: string;
  /** Path and parameters, without `page`. */
  readonly path: string;
  readonly page: 'first' | 'middle' | 'last';
  /** Whether to use the token of a grant limited to some of the years. */
  readonly limited: boolean;
}

/** First day of the limited grant: among the readings, not on the first of a month. */
export const DATA_FROM = '2019-03-05';

const WINDOW = 'from=2018-05-10&to=2024-09-20';
const CUT_DAYS = 'from=2018-05-10T10:20:30Z&to=2024-09-20T20:40:50Z';

export const QUERIES: readonly FlatQuery[] = [
  ...toPages('readings', '/health-data/heart?', ['first', 'middle', 'last']),
  ...toPages('readings of a type', '/health-data/heart?type=HRV&', ['first', 'last']),
  ...toPages('readings of a window', `/health-data/heart?${WINDOW}&`, ['first', 'last']),
  ...toPages('readings from the beginning of a grant', '/health-data/heart?', ['first', 'last'], true),
  ...toPages('aggregations', '/aggregations?', ['first']),
  ...toPages('aggregations of a window', `/aggregations?${WINDOW}&`, ['first']),
  ...toPages('aggregations of a window that cuts days', `/aggregations?${CUT_DAYS}&`, ['first']),
  ...toPages('aggregations from the beginning of a grant', '/aggregations?', ['first'], true),
  ...toPages('trends by day', '/trends?', ['first', 'middle', 'last']),
  ...toPages('trends by day of a type', '/trends?type=Steps&', ['first', 'last']),
  ...toPages('trends by day from the beginning of a grant', '/trends?', ['first', 'last'], true),
  ...toPages('trends by hour', '/trends?bucket=hour&', ['first', 'middle', 'last']),
  ...toPages('trends by hour of a type', '/trends?bucket=hour&type=Steps&', ['first', 'last']),
  ...toPages('trends by hour of a window', `/trends?bucket=hour&${WINDOW}&`, ['first', 'last']),
  ...toPages('weight', '/weight?', ['first', 'last']),
];

function toPages(
  name: string,
  path: string,
  pages: readonly FlatQuery['page'][],
  limited = false,
): FlatQuery[] {
  return pages.map((page) => ({ name, path: `/api/v1${path}`, page, limited }));
}
