import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { MINUTE_MS, weekdayOf } from '../calendar.ts';
import type { Medication } from '../medical-history.ts';
import { drift, type Random } from '../random.ts';
import type { SyntheticHealthRecord } from './record.ts';
import type { HealthRecordDay } from './record-day.ts';

const USUAL_ADHERENCE = 0.9;
const WEEKEND_DIP = 0.13;
const EVENING_DIP = 0.04;
const EVENING = 17 * 60;
/** The probability is reduced in a week with lapses. */
const LAPSE_DIP = 0.3;
const AS_NEEDED_CHANCE = 0.12;
const REASONS = ['Felt unwell', 'Upset stomach', 'On the road', 'Ran out'];

/**
 * The outcomes of a day's doses. Most are taken, fewer on weekends, in the evening and in weeks with lapses; the probabilities are
 * assumptions. Future doses are pending.
 */
export function* adherence(day: HealthRecordDay, medication: Medication): Generator<SyntheticHealthRecord> {
  const { key, pattern, times } = medication;
  const random = day.random(`adherence ${key}`);
  if (times.length === 0) {
    if (random.chance(AS_NEEDED_CHANCE)) yield* asNeeded(day, medication, random);
    return;
  }
  if (pattern === 'QOD' && day.number % 2 !== 0) return;
  for (const minute of times) yield scheduled(day, medication, minute, random);
}

function scheduled(
  day: HealthRecordDay,
  medication: Medication,
  minute: number,
  random: Random,
): SyntheticHealthRecord {
  const { key, dosage } = medication;
  const scheduledAt = day.at(minute);
  const { until } = day.timeline;
  // People get up later on weekends and take the medication later.
  const delay = random.normal(isWeekend(day) ? 34 : 7, 13);
  const takenAt = scheduledAt + Math.round(Math.max(-20, delay)) * MINUTE_MS;
  const isTaken = random.chance(likelihood(day, key, minute));
  const reason = random.pick(REASONS);
  const isSkipped = random.chance(0.3);
  const outcome = () => {
    if (isTaken) return { status: 'taken', takenAt: timestampFromMs(takenAt) };
    return isSkipped ? { status: 'skipped', reason } : { status: 'missed' };
  };
  const value = {
    medicationKey: key,
    scheduledAt: timestampFromMs(scheduledAt),
    dose: dosage,
    ...(Math.max(scheduledAt, takenAt) <= until ? outcome() : { status: 'pending' }),
  };
  return {
    key: `${key} ${new Date(scheduledAt).toISOString()}`,
    source: 'manual',
    record: { case: 'adherenceEntry', value },
  };
}

function likelihood(day: HealthRecordDay, key: string, minute: number): number {
  const { person, seed } = day.timeline;
  const usual = person.life?.habits.adherence ?? USUAL_ADHERENCE;
  const isLapse = drift(`${seed} ${person.id} lapse ${key}`, day.number, 8) < -1;
  return (
    usual -
    (isWeekend(day) ? WEEKEND_DIP : 0) -
    (minute >= EVENING ? EVENING_DIP : 0) -
    (isLapse ? LAPSE_DIP : 0)
  );
}

function* asNeeded(
  day: HealthRecordDay,
  { key, dosage }: Medication,
  random: Random,
): Generator<SyntheticHealthRecord> {
  const takenAt = day.at(random.integer(9 * 60, 21 * 60));
  if (takenAt > day.timeline.until) return;
  const value = {
    medicationKey: key,
    status: 'taken',
    takenAt: timestampFromMs(takenAt),
    dose: dosage,
  };
  yield {
    key: `${key} ${new Date(takenAt).toISOString()}`,
    source: 'manual',
    record: { case: 'adherenceEntry', value },
  };
}

function isWeekend({ number }: HealthRecordDay): boolean {
  return [0, 6].includes(weekdayOf(number));
}
