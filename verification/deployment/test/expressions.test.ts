import { expect, test } from '@jest/globals';
import { listGroupings, listUses } from '../src/alerts/dashboards.ts';

const metricsOf = (expr: string) => listUses(expr).map(({ metric }) => metric);

test.each([
  ['up', ['up']],
  ['phds_ready == 0', ['phds_ready']],
  ['sum by (job, rpc) (rate(a_total[5m])) > 0', ['a_total']],
  ['a or b unless c offset 1h', ['a', 'b', 'c']],
  ['histogram_quantile(0.99, sum by (endpoint, le) (rate(d_bucket{status=~"5.."}[5m])))', ['d_bucket']],
  ['x{job="y{z}"} / ignoring (state) w', ['x', 'w']],
  ['job:rate5m / 2e3 * 60', ['job:rate5m']],
  ['absent(up{job="consent"}) and on (job) vector(0)', ['up']],
  ['a > 5 * 60', ['a']],
])('the metrics of %s are found', (expr, metrics) => {
  expect(metricsOf(expr)).toEqual(metrics);
});

test('the labels of matchers and groupings are found', () => {
  const expr = 'sum by (job) (a{code!~"x|y",state="used"}) / on (pool) group_left (c) b';
  expect(listUses(expr)).toEqual([
    { metric: 'a', labels: ['code', 'state'], equals: { state: 'used' } },
    { metric: 'b', labels: [], equals: {} },
  ]);
  expect(listGroupings(expr)).toEqual(['job', 'pool', 'c']);
});

test('an expression that does not name its metric is refused', () => {
  expect(() => listUses('{__name__=~"phds_.+"}')).toThrow('without a name');
});
