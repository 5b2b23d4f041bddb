import { describe, expect, test } from '@jest/globals';
import { METRICS, roundToDecimals } from '@phds/catalog/metrics';
import { SECOND_MS } from '../src/calendar.ts';
import { ADA, EMPTY, GRACE, SPARSE } from '../src/people.ts';
import { recordsIn } from '../src/records.ts';
import { openTimeline, readingsIn } from '../src/timeline.ts';

const NOW = Date.parse('2026-03-30T09:30:00.000Z');
const metrics = new Map(METRICS.map((metric) => [metric.name, metric]));

describe.each([ADA, GRACE])('the life of $id', (person) => {
  const timeline = openTimeline(person, { until: NOW });
  const readings = [...readingsIn(timeline)];

  test('has every metric type', () => {
    const types = new Set<string>(readings.map(({ type }) => type));
    expect(METRICS.map(({ name }) => name).filter((name) => !types.has(name))).toEqual([]);
  });

  test('has readings that are plausible, rounded as stored, and in whole seconds', () => {
    const wrong = readings.filter(({ type, start, end, value }) => {
      const metric = metrics.get(type);
      if (metric === undefined || start > end) return true;
      const { min, max } = metric.plausible;
      if (value < min || value > max || roundToDecimals(value, metric.decimals) !== value) return true;
      return start % SECOND_MS !== 0 || end % SECOND_MS !== 0;
    });
    expect(wrong).toEqual([]);
  });

  test('has readings with unique natural keys', () => {
    const keys = new Set(readings.map(({ type, start, end, source }) => `${type} ${start} ${end} ${source}`));
    expect(keys.size).toBe(readings.length);
  });

  test("ends at the given instant and goes back over the person's number of days", () => {
    const first = readings.reduce((least, { start }) => Math.min(least, start), NOW);
    const last = readings.reduce((most, { end }) => Math.max(most, end), 0);
    expect(last).toBeLessThanOrEqual(NOW);
    expect((NOW - last) / 3_600_000).toBeLessThan(2);
    expect(Math.abs((NOW - first) / 86_400_000 - person.days)).toBeLessThan(1.5);
  });

  test('is the same for the same seed, and another for another', () => {
    const textOf = (seed: number) => {
      const life = openTimeline(person, { until: NOW, days: 5, seed });
      return JSON.stringify([...readingsIn(life), ...recordsIn(life)], (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      );
    };
    expect(textOf(7)).toBe(textOf(7));
    expect(textOf(7)).not.toBe(textOf(8));
  });

  test('has records of every kind, each with a unique key', () => {
    const records = [...recordsIn(timeline)];
    const kinds = new Set(records.map(({ record }) => record?.case));
    expect([...kinds].sort()).toEqual([
      'adherenceEntry',
      'allergy',
      'appointment',
      'condition',
      'ehrRecord',
      'medication',
      'moodEntry',
      'report',
      'symptom',
    ]);
    const keys = records.map(({ key, source, record }) => [record?.case, source, key].join());
    expect(new Set(keys).size).toBe(keys.length);
  });
});

test('sparse has five readings and a condition, empty has nothing, not even a profile', () => {
  const timeline = openTimeline(SPARSE, { until: NOW });
  const readings = [...readingsIn(timeline)];
  expect(readings.map(({ type }) => type).join()).toBe('Heart Rate,Heart Rate,Heart Rate,Weight,Weight');
  expect(readings.every(({ end }) => end <= NOW)).toBe(true);
  expect([...recordsIn(timeline)].map(({ record }) => record?.case)).toEqual(['condition']);
  const nothing = openTimeline(EMPTY, { until: NOW });
  expect([...readingsIn(nothing), ...recordsIn(nothing)]).toEqual([]);
  expect(EMPTY.profile).toBeNull();
});
