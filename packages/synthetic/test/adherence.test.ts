import { timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { dayOf, weekdayOf } from '../src/calendar.ts';
import { ADA } from '../src/people/ada.ts';
import { GRACE } from '../src/people/grace.ts';
import { HEAVY } from '../src/people/heavy.ts';
import { TRAVELLER } from '../src/people/traveller.ts';
import type { Person } from '../src/person.ts';
import { recordsIn } from '../src/records.ts';
import { openTimeline } from '../src/timeline.ts';
import { timelineOf } from './people-helpers.ts';

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
  test.each([1, 2, 3])('seed %s: most are taken, fewer on weekends', (seed) => {
    const doses = dosesOf(person, 730, seed);
    expect(takenShare(doses)).toBeGreaterThan(0.75);
    expect(takenShare(doses)).toBeLessThan(0.95);
    const isWeekend = ({ at }: Dose) => [0, 6].includes(weekdayOf(dayOf(at, person.timeZone)));
    const [weekend, week] = [doses.filter(isWeekend), doses.filter((dose) => !isWeekend(dose))];
    expect(takenShare(weekend)).toBeLessThan(takenShare(week) - 0.04);
  });

  test('are missed in streaks more often than by chance', () => {
    const doses = dosesOf(person, 730, 1);
    const missed = doses.map(({ status }) => status !== 'taken');
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
