import { expect, test } from '@jest/globals';
import { Scrape } from '@phds/test-kit/scrape';
import { Metrics } from '../src/telemetry/metrics.ts';

test('two instances in one process count apart', async () => {
  const [one, two] = [new Metrics({ service: 'one' }), new Metrics({ service: 'two' })];
  const declaration = { name: 'phds_things_total', help: 'Things.', labels: ['kind'] } as const;
  one.counter(declaration).inc({ kind: 'a' });
  two.counter(declaration).inc({ kind: 'a' }, 2);
  const [first, second] = [new Scrape(await one.text()), new Scrape(await two.text())];
  expect([first.sum('phds_things_total'), second.sum('phds_things_total')]).toEqual([1, 2]);
  expect(first.valuesOf('phds_build_info', 'service')).toEqual(['one']);
});

test('a read counter and a read gauge have the value of the moment of the scrape', async () => {
  const metrics = new Metrics({ service: 'one' });
  let value = 3;
  metrics.readCounter({ name: 'phds_read_total', help: 'Counted elsewhere.' }, () => value);
  metrics.readGauge({ name: 'phds_read', help: 'Known elsewhere.' }, async () => value);
  await metrics.text();
  value = 5;
  const scrape = new Scrape(await metrics.text());
  expect([scrape.sum('phds_read_total'), scrape.sum('phds_read')]).toEqual([5, 5]);
});

test('a background task has its counter before its first failure', async () => {
  const metrics = new Metrics({ service: 'one' });
  const failed = metrics.countFailures('sweeping');
  const read = async () => new Scrape(await metrics.text());
  expect((await read()).valuesOf('phds_background_failures_total', 'task')).toEqual(['sweeping']);
  failed();
  failed();
  expect((await read()).sum('phds_background_failures_total', { task: 'sweeping' })).toBe(2);
});
