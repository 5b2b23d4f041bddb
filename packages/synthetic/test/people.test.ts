import { describe, expect, test } from '@jest/globals';
import { METRICS, roundToDecimals } from '@phds/catalog/metrics';
import { SECOND_MS } from '../src/calendar.ts';
import { ADA } from '../src/people/ada.ts';
import { GRACE } from '../src/people/grace.ts';
import { HEAVY } from '../src/people/heavy.ts';
import { EMPTY, SPARSE } from '../src/people/people.ts';
import { TRAVELLER } from '../src/people/traveller.ts';
import { recordsIn } from '../src/records.ts';
import { openTimeline, readingsIn } from '../src/timeline.ts';

const NOW = Date.parse('2026-03-30T09:30:00.000Z');
const metrics = new Map(METRICS.map((metric) => [metric.name, metric]));
const MEASURED = [ADA, GRACE, { ...TRAVELLER, days: 60 }, { ...HEAVY, days: 35 }];

describe.each(MEASURED)('the readings of $id', (person) => {
  const readings = [...readingsIn(openTimeline(person, { until: NOW }))];

  test('include every metric type', () => {
    const types = new Set<string>(readings.map(({ type }) => type));
    expect(METRICS.map(({ name }) => name).filter((name) => !types.has(name))).toEqual([]);
  });

  test('are plausible, rounded as stored, and in whole seconds', () => {
    const wrong = readings.filter(({ type, start, end, value }) => {
      const metric = metrics.get(type);
      if (metric === undefined || start > end) return true;
      const { min, max } = metric.plausible;
      if (value < min || value > max || roundToDecimals(value, metric.decimals) !== value) return true;
      return start % SECOND_MS !== 0 || end % SECOND_MS !== 0;
    });
    expect(wrong).toEqual([]);
  });

  test('have unique natural keys', () => {
    const keys = new Set(readings.map(({ type, start, end, source }) => `${type} ${start} ${end} ${source}`));
    expect(keys.size).toBe(readings.length);
  });

  test("end at the given instant and go back over the person's number of days", () => {
    const first = readings.reduce((least, { start }) => Math.min(least, start), NOW);
    const last = readings.reduce((most, { end }) => Math.max(most, end), 0);
    expect(last).toBeLessThanOrEqual(NOW);
    expect((NOW - last) / 3_600_000).toBeLessThan(2);
    expect(Math.abs((NOW - first) / 86_400_000 - person.days)).toBeLessThan(1.5);
  });
});

describe.each([ADA, GRACE])('the records of $id', (person) => {
  const records = [...recordsIn(openTimeline(person, { until: NOW }))];

  test('include every kind, each with a unique key', () => {
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

describe('people with little', () => {
  test('sparse has five readings and a condition', () => {
    const timeline = openTimeline(SPARSE, { until: NOW });
    const readings = [...readingsIn(timeline)];
    expect(readings.map(({ type }) => type)).toEqual([
      'Heart Rate',
      'Heart Rate',
      'Heart Rate',
      'Weight',
      'Weight',
    ]);
    expect(readings.every(({ end }) => end <= NOW)).toBe(true);
    expect([...recordsIn(timeline)].map(({ record }) => record?.case)).toEqual(['condition']);
  });

  test('empty has nothing, not even a profile', () => {
    const timeline = openTimeline(EMPTY, { until: NOW });
    expect([...readingsIn(timeline), ...recordsIn(timeline)]).toEqual([]);
    expect(EMPTY.profile).toBeNull();
  });
});

describe('so many readings', () => {
  test.each([1, 4_321, 20_000])('%s are exactly the given number, the latest ones', (count) => {
    const until = NOW;
    const timeline = openTimeline(HEAVY, { until, extent: { readings: count } });
    const chosen = [...readingsIn(timeline)];
    expect(chosen).toHaveLength(count);
    const wholeDays = openTimeline(HEAVY, {
      until,
      extent: { days: timeline.lastDay - timeline.firstDay + 1 },
    });
    const whole = [...readingsIn(wholeDays)];
    const text = (reading: object) => JSON.stringify(reading);
    const kept = new Set(chosen.map(text));
    const cut = whole.filter((reading) => !kept.has(text(reading)));
    expect(cut).toHaveLength(whole.length - count);
    const lastCut = Math.max(0, ...cut.map(({ start }) => start));
    expect(Math.min(...chosen.slice(0, 100).map(({ start }) => start))).toBeGreaterThanOrEqual(lastCut);
  });
});
