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

// As published in version 1.
const NAMES_BY_CATEGORY = {
  heart: ['Heart Rate', 'Resting HR', 'Walking HR', 'HRV', 'ECG'],
  'blood-pressure': ['Blood Pressure', 'BP Diastolic'],
  oxygen: ['SPO2'],
  respiratory: ['Respiratory Rate', 'Respiratory'],
  glucose: ['Glucose'],
  temperature: ['Temperature'],
  activity: ['Steps', 'Distance', 'Calories', 'Basal Calories', 'Exercise', 'Flights'],
  sleep: ['Sleep', 'Sleep Deep', 'Sleep Core', 'Sleep REM', 'Sleep Awake', 'Time in Bed'],
  'body-composition': ['Weight', 'Height', 'BMI', 'Body Fat'],
  mindfulness: ['Mindfulness'],
};

describe('categories', () => {
  test('are the ten published ones, in their order', () => {
    expect(CATEGORIES.map((entry) => entry.slug)).toEqual(Object.keys(NAMES_BY_CATEGORY));
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
    expect(metricsOfCategory(slug).map((metric) => metric.name)).toEqual(NAMES_BY_CATEGORY[slug]);
  });

  test('no type is in two categories, and keys and names are unique', () => {
    expect(METRICS).toHaveLength(29);
    expect(new Set(METRICS.map((metric) => metric.key)).size).toBe(29);
    expect(new Set(METRICS.map((metric) => metric.name)).size).toBe(29);
    expect(CATEGORIES.flatMap((entry) => metricsOfCategory(entry.slug))).toEqual(METRICS);
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

  test('units are UCUM, not everyday spellings', () => {
    expect([...new Set(METRICS.map((metric) => metric.unit))].sort()).toEqual(
      [
        '%',
        '/min',
        'Cel',
        'cm',
        'kcal',
        'kg',
        'kg/m2',
        'm',
        'mg/dL',
        'min',
        'mm[Hg]',
        'ms',
        '{flights}',
        '{steps}',
      ].sort(),
    );
  });

  test('activity, sleep and mindfulness are summed, all others are averaged', () => {
    for (const metric of METRICS) {
      const additive = ['activity', 'sleep', 'mindfulness'].includes(metric.category);
      expect([metric.key, metric.kind]).toEqual([metric.key, additive ? 'additive' : 'average']);
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

  test('plausible limits and decimals are the published ones', () => {
    const rows = METRICS.map((m) => `${m.name} ${m.plausible.min}-${m.plausible.max} dp${m.decimals}`);
    expect(rows).toEqual([
      'Heart Rate 20-300 dp0',
      'Resting HR 20-200 dp0',
      'Walking HR 30-250 dp0',
      'HRV 0-500 dp1',
      'ECG 20-300 dp0',
      'Blood Pressure 50-300 dp0',
      'BP Diastolic 20-200 dp0',
      'SPO2 50-100 dp1',
      'Respiratory Rate 2-80 dp1',
      'Respiratory 2-80 dp1',
      'Glucose 10-1000 dp1',
      'Temperature 25-45 dp2',
      'Steps 0-100000 dp0',
      'Distance 0-500000 dp1',
      'Calories 0-20000 dp1',
      'Basal Calories 0-10000 dp1',
      'Exercise 0-1440 dp1',
      'Flights 0-2000 dp0',
      'Sleep 0-1440 dp1',
      'Sleep Deep 0-1440 dp1',
      'Sleep Core 0-1440 dp1',
      'Sleep REM 0-1440 dp1',
      'Sleep Awake 0-1440 dp1',
      'Time in Bed 0-1440 dp1',
      'Weight 0.5-500 dp2',
      'Height 20-280 dp1',
      'BMI 5-150 dp1',
      'Body Fat 1-80 dp1',
      'Mindfulness 0-1440 dp1',
    ]);
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
