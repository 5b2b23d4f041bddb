import { describe, expect, test } from '@jest/globals';
import { getMetric, METRICS, type MetricKey, roundToDecimals } from '@phds/catalog/metrics';
import { convertToMetricUnit } from '../src/units.ts';

describe('convertToMetricUnit', () => {
  test('every type accepts its own unit, and uses it when none is given', () => {
    for (const metric of METRICS) {
      expect([metric.key, convertToMetricUnit(metric, 55, metric.unit)]).toEqual([metric.key, 55]);
      expect([metric.key, convertToMetricUnit(metric, 55, '')]).toEqual([metric.key, 55]);
    }
  });

  test.each<[MetricKey, number, string, number]>([
    ['heart-rate', 72, 'count/min', 72],
    ['respiratory', 15, 'breaths/min', 15],
    ['hrv', 0.0412, 's', 41.2],
    ['blood-pressure', 120, 'mmHg', 120],
    ['blood-pressure', 16, 'kPa', 120],
    ['spo2', 0.97, '%', 97],
    ['spo2', 97, '%', 97],
    ['body-fat', 0.215, '%', 21.5],
    ['body-fat', 0.215, '1', 21.5],
    ['glucose', 5.5, 'mmol/L', 99.1],
    ['glucose', 5.5, 'mmol<180.15588000005408>/L', 99.1],
    ['glucose', 99, 'mg/dL{capillary}', 99],
    ['steps', 10, '{Schritte}', 10],
    ['temperature', 98.6, '[degF]', 37],
    ['distance', 1.5, 'km', 1500],
    ['distance', 1, 'mi', 1609.3],
    ['calories', 100, 'kJ', 23.9],
    ['exercise', 90, 's', 1.5],
    ['sleep', 7.5, 'h', 450],
    ['weight', 180, '[lb_av]', 81.65],
    ['height', 1.8, 'm', 180],
    ['height', 6, 'ft', 182.9],
    ['bmi', 22.4, 'count', 22.4],
  ])('%s: %d %s is %d', (key, value, unit, expected) => {
    const metric = getMetric(key);
    const converted = convertToMetricUnit(metric, value, unit);
    expect(converted).not.toBeNull();
    expect(roundToDecimals(converted ?? Number.NaN, metric.decimals)).toBe(expected);
  });

  test.each<[MetricKey, string]>([
    ['heart-rate', 'kg'],
    ['weight', 'KG'],
    ['steps', 'toString'],
    ['steps', '__proto__'],
    ['glucose', '%'],
    ['glucose', 'mmol<386.65>/L'],
    ['heart-rate', '{beats}'],
    ['heart-rate', '{beats}/{min}'],
  ])('%s cannot be given in %s', (key, unit) => {
    expect(convertToMetricUnit(getMetric(key), 1, unit)).toBeNull();
  });
});
