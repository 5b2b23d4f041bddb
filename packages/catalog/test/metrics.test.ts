import { describe, expect, test } from '@jest/globals';
import { CATEGORIES, isCategory } from '../src/categories.ts';
import {
  findMetricByName,
  getMetric,
  METRICS,
  type MetricKey,
  metricsOfCategory,
  roundToDecimals,
} from '../src/metrics.ts';

// As published in version 1: name, unit, how it is summarised, decimals, plausible limits.
const PUBLISHED = {
  heart: [
    'Heart Rate /min average dp0 20-300',
    'Resting HR /min average dp0 20-200',
    'Walking HR /min average dp0 30-250',
    'HRV ms average dp1 0-500',
    'ECG /min average dp0 20-300',
  ],
  'blood-pressure': ['Blood Pressure mm[Hg] average dp0 50-300', 'BP Diastolic mm[Hg] average dp0 20-200'],
  oxygen: ['SPO2 % average dp1 50-100'],
  respiratory: ['Respiratory Rate /min average dp1 2-80', 'Respiratory /min average dp1 2-80'],
  glucose: ['Glucose mg/dL average dp1 10-1000'],
  temperature: ['Temperature Cel average dp2 25-45'],
  activity: [
    'Steps {steps} additive dp0 0-100000',
    'Distance m additive dp1 0-500000',
    'Calories kcal additive dp1 0-20000',
    'Basal Calories kcal additive dp1 0-10000',
    'Exercise min additive dp1 0-1440',
    'Flights {flights} additive dp0 0-2000',
  ],
  sleep: ['Sleep', 'Sleep Deep', 'Sleep Core', 'Sleep REM', 'Sleep Awake', 'Time in Bed'].map(
    (name) => `${name} min additive dp1 0-1440`,
  ),
  'body-composition': [
    'Weight kg average dp2 0.5-500',
    'Height cm average dp1 20-280',
    'BMI kg/m2 average dp1 5-150',
    'Body Fat % average dp1 1-80',
  ],
  mindfulness: ['Mindfulness min additive dp1 0-1440'],
};

describe('categories', () => {
  test('are the ten published ones, in their order', () => {
    expect(CATEGORIES.map((entry) => entry.slug)).toEqual(Object.keys(PUBLISHED));
  });

  test('are recognised by exact slug only', () => {
    expect(isCategory('blood-pressure')).toBe(true);
    for (const text of ['', 'Heart', 'heart ', 'weight', 'constructor', '__proto__']) {
      expect(isCategory(text)).toBe(false);
    }
  });
});

describe('metric types', () => {
  test.each(CATEGORIES.map((entry) => entry.slug))('%s has exactly its published types', (slug) => {
    const rows = metricsOfCategory(slug).map(
      ({ name, unit, kind, decimals, plausible: { min, max } }) =>
        `${name} ${unit} ${kind} dp${decimals} ${min}-${max}`,
    );
    expect(rows).toEqual(PUBLISHED[slug]);
  });

  test('every key is the name in kebab case', () => {
    for (const metric of METRICS) {
      expect(metric.key).toBe(metric.name.toLowerCase().replaceAll(' ', '-'));
      expect(getMetric(metric.key)).toBe(metric);
    }
  });

  test('no LOINC code with a single source is used', () => {
    const served = METRICS.map((metric) => metric.loinc);
    for (const unconfirmed of ['11524-6', '55430-3', '55411-3', '103215-0', '103213-5']) {
      expect(served).not.toContain(unconfirmed);
    }
  });

  test('sleep counts for the day of waking up, everything else for the day it starts', () => {
    for (const metric of METRICS) {
      expect([metric.key, metric.bucketBy]).toEqual([
        metric.key,
        metric.category === 'sleep' ? 'end' : 'start',
      ]);
    }
  });

  test('only an ECG may have no value', () => {
    expect(METRICS.filter((metric) => metric.nullable).map((metric) => metric.name)).toEqual(['ECG']);
  });

  test('reference ranges are the published ones, each with a source, and no other type has one', () => {
    const ranges = METRICS.flatMap(({ name, referenceRange: range }) =>
      range === null ? [] : [`${name} ${range.low}-${range.high}`],
    );
    expect(ranges).toEqual([
      'Heart Rate 41-130',
      'Resting HR 60-100',
      'Blood Pressure 90-129',
      'BP Diastolic 60-79',
      'SPO2 95-100',
      'Respiratory Rate 12-20',
      'Respiratory 12-20',
      'Glucose 70-180',
      'Temperature 36.1-38',
      'Sleep 420-540',
      'BMI 18.5-24.9',
    ]);
    for (const { referenceRange } of METRICS) expect(referenceRange?.source).not.toBe('');
  });
});

describe('looking up a metric type', () => {
  test.each([
    ['Heart Rate', 'heart-rate'],
    ['heart-rate', 'heart-rate'],
    ['HEART_RATE', 'heart-rate'],
    ['heartrate', 'heart-rate'],
    ['  he-art _rate ', 'heart-rate'],
    ['timeInBed', 'time-in-bed'],
    ['spo2', 'spo2'],
    ['respiratory', 'respiratory'],
    ['Respiratory-Rate', 'respiratory-rate'],
  ])('finds %p as %s', (text, key) => {
    expect(findMetricByName(text)?.key).toBe(key);
  });

  test.each(['', ' ', 'heart', 'Heart.Rate', 'heart\trate', 'constructor', '__proto__'])(
    'finds nothing for %p',
    (text) => {
      expect(findMetricByName(text)).toBeNull();
    },
  );

  test('a key outside the table is an error', () => {
    expect(() => getMetric('pulse' as MetricKey)).toThrow(RangeError);
  });
});

describe('roundToDecimals', () => {
  test.each([
    [1.005, 2, 1.01],
    [0.5, 0, 1],
    [2.5, 0, 3],
    [9.995, 2, 10],
    [-0.5, 0, -1],
    [0.49999999999999994, 0, 0],
    [1.0049999999999999, 2, 1.01],
    [1.0049999999999997, 2, 1],
    [168.80253764416227, 1, 168.8],
    [1e-7, 2, 0],
    [0.005, 2, 0.01],
    [1e21, 2, 1e21],
    [123456789.125, 2, 123456789.13],
  ])('%p to %p decimals is %p, half away from zero in decimal', (value, decimals, rounded) => {
    expect(roundToDecimals(value, decimals)).toBe(rounded);
  });

  test('never yields a negative zero', () => {
    for (const value of [-0, -0.001, -1e-9, -0.4]) expect(Object.is(roundToDecimals(value, 0), 0)).toBe(true);
  });

  test('changes nothing when repeated, so stored values are stable', () => {
    for (let step = 0; step < 2000; step++) {
      const value = Math.sin(step) * 10 ** (step % 7);
      const rounded = roundToDecimals(value, step % 4);
      expect(roundToDecimals(rounded, step % 4)).toBe(rounded);
      expect(Math.abs(rounded - value)).toBeLessThanOrEqual(0.5 * 10 ** -(step % 4) + 1e-9);
    }
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses %p', (value) => {
    expect(() => roundToDecimals(value, 1)).toThrow(RangeError);
  });

  test.each([-1, 0.5, Number.NaN])('refuses %p decimals', (decimals) => {
    expect(() => roundToDecimals(1.5, decimals)).toThrow(RangeError);
  });
});
