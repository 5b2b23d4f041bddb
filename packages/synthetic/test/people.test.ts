import { timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { METRICS, type MetricName, roundToDecimals } from '@phds/catalog/metrics';
import { dayOf, HOUR_MS, MINUTE_MS, offsetAt, parseDay, SECOND_MS, weekdayOf } from '../src/calendar.ts';
import { ADA } from '../src/people/ada.ts';
import { GRACE } from '../src/people/grace.ts';
import { HEAVY } from '../src/people/heavy.ts';
import { EMPTY, findPerson, PEOPLE, SPARSE } from '../src/people/people.ts';
import { TRAVELLER } from '../src/people/traveller.ts';
import type { Person } from '../src/person.ts';
import type { SyntheticReading } from '../src/reading.ts';
import { recordsIn } from '../src/records.ts';
import { endOfDay, openTimeline, readingsIn, type Timeline } from '../src/timeline.ts';

/** A timeline of a person with a number of days up to the end of a date. */
function timelineOf(person: Person, lastDate: string, days: number, seed = 1): Timeline {
  const day = parseDay(lastDate);
  if (day === null) throw new RangeError(`${lastDate} is no date`);
  return openTimeline(person, { seed, until: endOfDay(person, day), extent: { days } });
}

/** Returns a function that gives the readings of a type, in order. */
function readingsByType(timeline: Timeline): (type: MetricName) => readonly SyntheticReading[] {
  const byType = Map.groupBy(readingsIn(timeline), ({ type }) => type);
  return (type) => byType.get(type) ?? [];
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The quantile of the values for this share. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

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

test('people are found by name', () => {
  expect(PEOPLE.map(({ id }) => findPerson(id)?.id)).toEqual(PEOPLE.map(({ id }) => id));
  expect(findPerson('nobody')).toBeNull();
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

  test('a person without devices has only manual entries, whatever amount is requested', () => {
    const extent = { readings: 1_000 };
    expect([...readingsIn(openTimeline(SPARSE, { until: NOW, extent }))]).toHaveLength(5);
  });
});

test('overlapping periods of the same life contain the same days', () => {
  const long = [...readingsIn(timelineOf(ADA, '2026-02-10', 20))];
  const short = [...readingsIn(timelineOf(ADA, '2026-02-10', 5))];
  const kept = new Set(long.map((reading) => JSON.stringify(reading)));
  expect(short.filter((reading) => !kept.has(JSON.stringify(reading)))).toEqual([]);
});

test('every day of a traveller ends at its local end, even when a journey ends', () => {
  const first = parseDay('2026-01-01') ?? 0;
  const days = Array.from({ length: 365 }, (_, index) => first + index);
  const lastDays = days.map((day) => openTimeline(TRAVELLER, { until: endOfDay(TRAVELLER, day) }).lastDay);
  expect(lastDays).toEqual(days);
});

const values = (readings: readonly SyntheticReading[]) => readings.map(({ value }) => value);

/** Joins adjacent readings into one. */
function joinAdjacent(readings: readonly SyntheticReading[]): { start: number; end: number }[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of readings) {
    const last = joined.at(-1);
    if (last?.end === start) last.end = end;
    else joined.push({ start, end });
  }
  return joined;
}

const LIVES = [
  { person: ADA, days: 180 },
  { person: GRACE, days: 180 },
  { person: HEAVY, days: 30 },
].map(({ person, days }) => {
  const timeline = timelineOf(person, '2026-06-30', days);
  return { person, days, timeline, of: readingsByType(timeline) };
});

describe.each(LIVES)('the body of $person.id', ({ person, days, of }) => {
  const hourOf = (at: number) => Math.floor(((at + offsetAt(at, person.timeZone)) / HOUR_MS) % 24);
  const dayTotals = (type: MetricName, source: string) => {
    const totals = new Map<number, number>();
    for (const { start, value, source: from } of of(type)) {
      const day = dayOf(start, person.timeZone);
      if (from === source) totals.set(day, (totals.get(day) ?? 0) + value);
    }
    return [...totals.values()];
  };

  test('has a slower heart rate at night than during the day, with the resting rate in between', () => {
    const between = (from: number, to: number) =>
      average(values(of('Heart Rate').filter(({ start }) => hourOf(start) >= from && hourOf(start) < to)));
    const resting = average(values(of('Resting HR')));
    expect(between(1, 4)).toBeLessThan(resting);
    expect(resting + 6).toBeLessThan(between(10, 16));
  });

  test('has a faster heart rate during exercise', () => {
    const sessions = joinAdjacent(of('Exercise')).filter(({ start, end }) => end - start >= 20 * MINUTE_MS);
    const during = of('Heart Rate').filter(({ start }) =>
      sessions.some((each) => start > each.start + MINUTE_MS && start < each.end),
    );
    expect(during.length).toBeGreaterThan(20);
    expect(average(values(during))).toBeGreaterThan(average(values(of('Resting HR'))) + 28);
  });

  test('increases steps, energy and heart rate together', () => {
    const burnt = new Map(of('Calories').map(({ start, value }) => [Math.floor(start / HOUR_MS), value]));
    const hours = new Map<number, number>();
    for (const { start, value, source } of of('Steps')) {
      const hour = Math.floor(start / HOUR_MS);
      if (source === 'apple-watch') hours.set(hour, (hours.get(hour) ?? 0) + value);
    }
    const [many, few] = [quantile([...hours.values()], 0.9), quantile([...hours.values()], 0.3)];
    const energyOf = (isChosen: (steps: number) => boolean) =>
      average([...hours].filter(([, steps]) => isChosen(steps)).map(([hour]) => burnt.get(hour) ?? 0));
    expect(energyOf((steps) => steps >= many)).toBeGreaterThan(1.5 * energyOf((steps) => steps <= few));
  });

  test('walks a plausible number of steps, similar on most days and far more on some', () => {
    const totals = dayTotals('Steps', 'apple-watch');
    const usual = quantile(totals, 0.5);
    const { steps } = person.life?.habits ?? { steps: 0 };
    expect(usual).toBeGreaterThan(steps * 0.7);
    expect(usual).toBeLessThan(steps * 2);
    expect(quantile(totals, 0.95)).toBeGreaterThan(usual * 1.3);
    expect(quantile(totals, 0.95)).toBeLessThan(usual * 3.2);
    expect(quantile(totals, 0.05)).toBeLessThan(usual * 0.75);
    expect(Math.min(...totals)).toBeGreaterThan(150);
  });

  test('is counted by watch and phone concurrently, and neither always counts more', () => {
    const hours = new Map<number, Record<string, number>>();
    for (const { start, value, source } of of('Steps')) {
      const hour = Math.floor(start / HOUR_MS);
      const counted = hours.get(hour) ?? {};
      counted[source] = (counted[source] ?? 0) + value;
      hours.set(hour, counted);
    }
    const share = (isSo: (watch: number, phone: number) => boolean) =>
      [...hours.values()].filter(({ 'apple-watch': watch = 0, iphone = 0 }) => isSo(watch, iphone)).length /
      hours.size;
    expect(share((watch, phone) => watch > 0 && phone > 0)).toBeGreaterThan(0.35);
    expect(share((watch, phone) => watch > phone)).toBeGreaterThan(0.4);
    expect(share((watch, phone) => phone > watch)).toBeGreaterThan(0.04);
  });

  test('has more deep sleep early in the night and more REM sleep late', () => {
    const nights = of('Time in Bed').map(({ start, end }) => {
      const middle = (start + end) / 2;
      const inHalf = (type: MetricName, isFirst: boolean) =>
        of(type)
          .filter((each) => each.start >= start && each.end <= end && each.start < middle === isFirst)
          .reduce((sum, { value }) => sum + value, 0);
      return {
        deep: [inHalf('Sleep Deep', true), inHalf('Sleep Deep', false)] as const,
        rem: [inHalf('Sleep REM', true), inHalf('Sleep REM', false)] as const,
      };
    });
    const measured = nights.filter(({ rem }) => rem[0] + rem[1] > 0);
    expect(measured.length).toBeGreaterThan(days * 0.85);
    expect(measured.filter(({ deep }) => deep[0] > deep[1]).length).toBeGreaterThan(measured.length * 0.95);
    expect(measured.filter(({ rem }) => rem[1] > rem[0]).length).toBeGreaterThan(measured.length * 0.9);
  });

  test('sleeps for a realistic time, with textbook shares of the stages', () => {
    const minutes = (type: MetricName) => values(of(type)).reduce((sum, value) => sum + value, 0);
    const asleep = minutes('Sleep');
    expect(asleep).toBeCloseTo(minutes('Sleep Deep') + minutes('Sleep Core') + minutes('Sleep REM'), 0);
    expect(minutes('Sleep Deep') / asleep).toBeGreaterThan(0.06);
    expect(minutes('Sleep Deep') / asleep).toBeLessThan(0.27);
    expect(minutes('Sleep REM') / asleep).toBeGreaterThan(0.17);
    expect(minutes('Sleep REM') / asleep).toBeLessThan(0.3);
    const nights = new Set(of('Sleep').map(({ end }) => dayOf(end, person.timeZone))).size;
    expect(asleep / nights).toBeGreaterThan(360);
    expect(asleep / nights).toBeLessThan(540);
    expect(minutes('Time in Bed') / of('Time in Bed').length).toBeGreaterThan(asleep / nights);
  });

  test('varies in weight slightly from day to day', () => {
    const weights = values(of('Weight'));
    const steps = weights.slice(1).map((value, index) => Math.abs(value - (weights[index] ?? 0)));
    expect(average(steps)).toBeGreaterThan(0.1);
    expect(Math.max(...steps)).toBeLessThan(2.5);
    expect(Math.max(...weights) - Math.min(...weights)).toBeLessThan(average(weights) * 0.08);
  });

  test('has blood pressure measured in pairs, mainly in the morning', () => {
    const [systolic, diastolic] = [of('Blood Pressure'), of('BP Diastolic')];
    const keys = (readings: readonly SyntheticReading[]) =>
      readings.map(({ start, source }) => `${start} ${source}`);
    expect(keys(systolic)).toEqual(keys(diastolic));
    expect(systolic.every(({ value }, index) => value > (diastolic[index]?.value ?? 0) + 15)).toBe(true);
    const mornings = systolic.filter(({ start }) => hourOf(start) < 11);
    expect(mornings.length).toBeGreaterThanOrEqual(systolic.length / 2);
  });
});

test.each(LIVES.slice(0, 2))(
  'a cold of $person.id causes fever and a faster heart rate',
  ({ person, timeline, of }) => {
    const ill = new Set(
      [...timeline.days()].filter(({ illness }) => illness > 0.6).map(({ number }) => number),
    );
    expect(ill.size).toBeGreaterThan(1);
    const split = (type: MetricName, isIll: boolean) =>
      average(values(of(type).filter(({ start }) => ill.has(dayOf(start, person.timeZone)) === isIll)));
    expect(split('Temperature', true)).toBeGreaterThan(split('Temperature', false) + 0.8);
    expect(split('Resting HR', true)).toBeGreaterThan(split('Resting HR', false) + 2);
  },
);

describe.each([
  { person: HEAVY, days: 20 },
  { person: TRAVELLER, days: 30 },
])('the glucose of $person.id', ({ person, days }) => {
  const timeline = timelineOf(person, '2026-05-31', days);
  const glucose = readingsByType(timeline)('Glucose');

  test('peaks between half an hour and an hour and a half after meals', () => {
    const meals = [...timeline.days()].flatMap((day) =>
      day.meals
        .filter(({ at, size }) => at >= day.start && size > 0.7)
        // Exercise after a meal burns it.
        .filter(({ at }) =>
          day.bouts.every(({ effort, start, end }) => effort < 0.35 || end < at || start > at + 2 * HOUR_MS),
        ),
    );
    const peaks = meals.flatMap(({ at }) => {
      const window = glucose.filter(({ start }) => start >= at && start <= at + 2.5 * HOUR_MS);
      const top = window.toSorted((one, other) => other.value - one.value)[0];
      return top === undefined ? [] : [(top.start - at) / MINUTE_MS];
    });
    expect(peaks.length).toBeGreaterThan(days);
    const within = peaks.filter((minutes) => minutes >= 30 && minutes <= 90);
    expect(within.length / peaks.length).toBeGreaterThan(0.9);
  });

  test('is nearly always in range for a person without diabetes', () => {
    const inRange = glucose.filter(({ value }) => value >= 70 && value <= 180);
    expect(inRange.length / glucose.length).toBeGreaterThan(0.95);
  });
});

test('the glucose of a person with diabetes is higher, especially after meals', () => {
  const [ada = [], grace = []] = LIVES.map(({ of }) => values(of('Glucose')));
  expect(average(grace)).toBeGreaterThan(average(ada) + 30);
  expect(grace.filter((value) => value > 180).length / grace.length).toBeGreaterThan(0.08);
  expect(ada.filter((value) => value > 180)).toEqual([]);
});

interface Dose {
  readonly at: number;
  readonly status: string;
}

function dosesOf(person: Person, days: number, seed: number): Dose[] {
  return [...recordsIn(timelineOf(person, '2026-06-30', days, seed))].flatMap(({ record }) => {
    if (record?.case !== 'adherenceEntry') return [];
    const { scheduledAt, status = '' } = record.value;
    return scheduledAt === undefined ? [] : [{ at: timestampMs(scheduledAt as never), status }];
  });
}

const takenShare = (doses: readonly Dose[]) =>
  doses.filter(({ status }) => status === 'taken').length / doses.length;

describe.each([ADA, GRACE, TRAVELLER, HEAVY])('the doses of $id', (person) => {
  const bySeed = [1, 2, 3].map((seed) => dosesOf(person, 730, seed));

  test.each([1, 2, 3])('seed %s: most are taken, fewer on weekends', (seed) => {
    const doses = bySeed[seed - 1] ?? [];
    expect(takenShare(doses)).toBeGreaterThan(0.75);
    expect(takenShare(doses)).toBeLessThan(0.95);
    const isWeekend = ({ at }: Dose) => [0, 6].includes(weekdayOf(dayOf(at, person.timeZone)));
    const [weekend, week] = [doses.filter(isWeekend), doses.filter((dose) => !isWeekend(dose))];
    expect(takenShare(weekend)).toBeLessThan(takenShare(week) - 0.04);
  });

  test('are missed in streaks more often than by chance', () => {
    const missed = (bySeed[0] ?? []).map(({ status }) => status !== 'taken');
    const rate = missed.filter(Boolean).length / missed.length;
    const after = missed.filter((_, index) => missed[index - 1] === true);
    expect(after.filter(Boolean).length / after.length).toBeGreaterThan(rate * 1.1);
  });
});

test('future doses are pending', () => {
  const until = Date.parse('2026-06-30T10:00:00Z');
  const timeline = openTimeline(ADA, { until, extent: { days: 2 } });
  for (const { record } of recordsIn(timeline)) {
    if (record?.case !== 'adherenceEntry' || record.value.scheduledAt === undefined) continue;
    const isAhead = timestampMs(record.value.scheduledAt as never) > until;
    expect(record.value.status === 'pending').toBe(isAhead);
  }
});
