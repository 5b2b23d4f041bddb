import { describe, expect, test } from '@jest/globals';
import { METRICS } from '@phds/catalog/metrics';
import { listDays, toLocalDate, toLocalTime } from '../src/seed/day.ts';
import { ADA_HISTORY, GRACE_HISTORY } from '../src/seed/medical-history.ts';
import { ADA, GRACE } from '../src/seed/person.ts';
import { createRandom } from '../src/seed/random.ts';
import { listReadings, listSparseReadings } from '../src/seed/readings.ts';
import { listRecords } from '../src/seed/records.ts';

const NOW = new Date('2026-03-30T09:30:00.000Z');
const PEOPLE = [
  { person: ADA, history: ADA_HISTORY },
  { person: GRACE, history: GRACE_HISTORY },
];

describe.each(PEOPLE)('the synthetic data of $person.userId', ({ person, history }) => {
  const readings = listReadings(person, NOW);
  const records = listRecords(person, history, NOW);

  test('is the same whenever it is made for the same moment', () => {
    expect(listReadings(person, NOW)).toEqual(readings);
    expect(listRecords(person, history, NOW)).toEqual(records);
  });

  test('has every metric type', () => {
    const types = new Set<string>(readings.map(({ type }) => type));
    expect(METRICS.map(({ name }) => name).filter((name) => !types.has(name))).toEqual([]);
  });

  test('is plausible in every value', () => {
    for (const { name, plausible } of METRICS) {
      const values = readings.filter(({ type }) => type === name).map(({ value }) => value);
      expect(Math.min(...values)).toBeGreaterThanOrEqual(plausible.min);
      expect(Math.max(...values)).toBeLessThanOrEqual(plausible.max);
    }
  });

  test('ends now and reaches back about ninety days', () => {
    const times = readings.map(({ end }) => end.getTime());
    expect(Math.max(...times)).toBeLessThanOrEqual(NOW.getTime());
    expect((NOW.getTime() - Math.min(...times)) / 86_400_000).toBeGreaterThan(88);
  });

  test('never gives one natural key to two readings', () => {
    const keys = readings.map((each) =>
      [each.type, each.start.getTime(), each.end.getTime(), each.source].join(),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('has every kind of record, each with a key of its own', () => {
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

  test('is calmer by night than by day', () => {
    const rates = readings.filter(({ type }) => type === 'Heart Rate');
    const format = new Intl.DateTimeFormat('en-GB', { timeZone: person.timeZone, hour: '2-digit' });
    const hour = (at: Date) => Number(format.format(at));
    const average = (from: number, to: number) => {
      const chosen = rates.filter(({ start }) => hour(start) >= from && hour(start) < to);
      return chosen.reduce((sum, { value }) => sum + value, 0) / chosen.length;
    };
    expect(average(1, 4)).toBeLessThan(average(10, 16) - 10);
  });
});

describe('synthetic days', () => {
  test('are the last days of the person, in their own zone', () => {
    const days = listDays(ADA, new Date('2026-03-29T22:30:00.000Z'));
    expect(days).toHaveLength(90);
    expect(days.at(-1)?.date).toBe('2026-03-30');
    expect(days.at(-1)?.at(0).toISOString()).toBe('2026-03-29T22:00:00.000Z');
    expect(days[0]?.at(0).toISOString()).toBe('2025-12-30T23:00:00.000Z');
  });

  test('begin at midnight of New York for grace', () => {
    const day = listDays(GRACE, NOW).at(-1);
    expect(day?.date).toBe('2026-03-30');
    expect(day?.at(90).toISOString()).toBe('2026-03-30T05:30:00.000Z');
    expect(toLocalDate(new Date('2026-03-30T03:59:00.000Z'), GRACE.timeZone)).toBe('2026-03-29');
  });

  test('know when the clock changes', () => {
    const hours = listDays(ADA, NOW).map(({ date, hours }) => [date, hours]);
    expect(hours.filter(([, count]) => count !== 24)).toEqual([['2026-03-29', 23]]);
  });

  test('write times with the offset of their zone', () => {
    const noon = new Date('2026-07-01T12:00:00.000Z');
    expect(toLocalTime(noon, 'Europe/Berlin')).toBe('2026-07-01T14:00:00+02:00');
    expect(toLocalTime(noon, 'America/New_York')).toBe('2026-07-01T08:00:00-04:00');
    expect(toLocalTime(noon, 'Asia/Kolkata')).toBe('2026-07-01T17:30:00+05:30');
  });

  test('keep their numbers when seen from another day', () => {
    const later = new Date(NOW.getTime() + 86_400_000);
    const ofDay = (now: Date) =>
      listDays(ADA, now)
        .find(({ date }) => date === '2026-03-01')
        ?.random('steps');
    expect(ofDay(later)?.between(0, 1)).toBe(ofDay(NOW)?.between(0, 1));
  });
});

describe('seeded random numbers', () => {
  test('differ by seed and fill their range', () => {
    const numbers = Array.from({ length: 2_000 }, (_, index) => createRandom(`seed ${index}`).integer(1, 6));
    expect([...new Set(numbers)].sort()).toEqual([1, 2, 3, 4, 5, 6]);
    const random = createRandom('one');
    const normal = Array.from({ length: 5_000 }, () => random.normal(10, 2));
    const mean = normal.reduce((sum, value) => sum + value, 0) / normal.length;
    expect(Math.abs(mean - 10)).toBeLessThan(0.15);
  });
});

test('the user with little data has a little', () => {
  const readings = listSparseReadings(NOW);
  expect(new Set(readings.map(({ type }) => type))).toEqual(new Set(['Heart Rate', 'Weight']));
  expect(readings.every(({ end }) => end <= NOW)).toBe(true);
});
