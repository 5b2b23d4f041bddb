import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { DAY_MS, formatDay, formatInstant, HOUR_MS, MINUTE_MS, toInstant } from './calendar.ts';
import { isWeekend } from './day.ts';
import { type Medication, zoneOn } from './person.ts';
import { createRandom, type Random } from './random.ts';
import type { Timeline } from './timeline.ts';

/** A record in the form of the ingestion rpc. */
type SyntheticHealthRecord = MessageInitShape<typeof HealthRecordSchema>;

/** The content of a record, by its kind. */
type HealthRecordContent = NonNullable<SyntheticHealthRecord['record']>;

/** The events of a day that records are generated from. */
interface HealthRecordDay {
  readonly timeline: Timeline;
  readonly number: number;
  /** The instant of a wall clock time, in minutes after midnight. */
  at(minute: number): number;
  random(topic: string): Random;
}

/** A day of a timeline. */
function createHealthRecordDay(timeline: Timeline, number: number): HealthRecordDay {
  const { person, seed } = timeline;
  return {
    timeline,
    number,
    at: (minute) => toInstant(number * DAY_MS + minute * MINUTE_MS, zoneOn(person, number)),
    random: (topic) => createRandom(`${seed} ${person.id} ${number} ${topic}`),
  };
}

const REPORT_DAYS = 30;

/** Every health record of a timeline. Keys depend only on content and time, so repeated generation yields the same records. */
export function* recordsIn(timeline: Timeline): Generator<SyntheticHealthRecord> {
  yield* standingFacts(timeline);
  for (let day = timeline.firstDay; day <= timeline.lastDay; day += 1) {
    const healthRecordDay = createHealthRecordDay(timeline, day);
    for (const medication of timeline.person.history.medications)
      yield* adherence(healthRecordDay, medication);
    yield* diary(healthRecordDay);
  }
  yield* careRecords(timeline);
  if (timeline.person.history.reports) yield* reports(timeline);
}

function* standingFacts({ person }: Timeline): Generator<SyntheticHealthRecord> {
  const { conditions, allergies, medications } = person.history;
  for (const { source, ...value } of conditions) {
    yield { key: value.name, source, record: { case: 'condition', value } };
  }
  for (const { source, ...value } of allergies) {
    yield { key: value.name, source, record: { case: 'allergy', value } };
  }
  for (const { key, name, dosage, frequency, condition, pattern } of medications) {
    const value = { name, dosage, frequency, condition, pattern };
    yield { key, source: 'manual', record: { case: 'medication', value } };
  }
}

/** Appointments and doctors' entries, both relative to the last day. */
function* careRecords(timeline: Timeline): Generator<SyntheticHealthRecord> {
  const { lastDay, person, until } = timeline;
  const at = (inDays: number, hour: number) =>
    toInstant((lastDay + inDays) * DAY_MS + hour * HOUR_MS, person.timeZone);
  for (const { title, inDays, hour, specialty, location } of person.history.appointments) {
    const dateTime = formatInstant(at(inDays, hour), person.timeZone);
    const value = { title, dateTime, specialty, location };
    yield { key: `${dateTime} ${title}`, source: 'ehr', record: { case: 'appointment', value } };
  }
  for (const { resourceType, title, finding, inDays } of person.history.careRecords) {
    const instant = at(inDays, 11);
    if (instant > until) continue;
    const value = { resourceType, summary: `${title}: ${finding}`, timestamp: timestampFromMs(instant) };
    const key = `${new Date(instant).toISOString()} ${resourceType}`;
    yield { key, source: 'ehr', record: { case: 'ehrRecord', value } };
  }
}

/** One report for each full period of thirty days, created the next morning. */
function* reports(timeline: Timeline): Generator<SyntheticHealthRecord> {
  const { firstDay, lastDay, person } = timeline;
  for (let last = lastDay - 1; last - REPORT_DAYS + 1 >= firstDay; last -= REPORT_DAYS) {
    const [from, to] = [formatDay(last - REPORT_DAYS + 1), formatDay(last)];
    const generatedAt = toInstant((last + 1) * DAY_MS + 5 * HOUR_MS, person.timeZone);
    if (generatedAt > timeline.until) continue;
    const summary = `${person.profile?.name}, ${from} to ${to}: measured every day, sleep regular, medication taken on most days.`;
    const value = { generatedAt: timestampFromMs(generatedAt), from, to, summary };
    yield { key: `${from} ${to}`, source: 'synthetic', record: { case: 'report', value } };
  }
}

const MOOD_CHANCE = 0.6;

/** Intermittent symptoms, and a mood on most evenings. */
function* diary(day: HealthRecordDay): Generator<SyntheticHealthRecord> {
  const { symptoms, moods } = day.timeline.person.history;
  const random = day.random('diary');
  const date = formatDay(day.number);
  for (const { description, severity, chance } of symptoms) {
    const at = day.at(random.integer(8 * 60, 21 * 60));
    if (!random.chance(chance)) continue;
    const value = { description, severity, timestamp: timestampFromMs(at) };
    yield* written(day, at, `${date} ${description}`, { case: 'symptom', value });
  }
  if (moods.length === 0 || !random.chance(MOOD_CHANCE)) return;
  const at = day.at(random.integer(18 * 60, 22 * 60));
  const { mood, note } = random.pick(moods);
  const value = { mood, note, timestamp: timestampFromMs(at) };
  yield* written(day, at, `${date} mood`, { case: 'moodEntry', value });
}

function* written(
  { timeline }: HealthRecordDay,
  at: number,
  key: string,
  record: HealthRecordContent,
): Generator<SyntheticHealthRecord> {
  if (at <= timeline.until) yield { key, source: 'manual', record };
}

const AS_NEEDED_CHANCE = 0.12;
const REASONS = ['Felt unwell', 'Upset stomach', 'On the road', 'Ran out'];

/** The outcomes of a day's doses. Most are taken, fewer on weekends. Future doses are pending. */
function* adherence(day: HealthRecordDay, medication: Medication): Generator<SyntheticHealthRecord> {
  const { key, pattern, times } = medication;
  const random = day.random(`adherence ${key}`);
  if (times.length === 0 && random.chance(AS_NEEDED_CHANCE)) {
    const takenAt = day.at(random.integer(9 * 60, 21 * 60));
    const outcome = { status: 'taken', takenAt: timestampFromMs(takenAt) };
    if (takenAt <= day.timeline.until) yield toDose(medication, takenAt, outcome);
  }
  if (pattern === 'QOD' && day.number % 2 !== 0) return;
  for (const minute of times) {
    const scheduledAt = day.at(minute);
    const takenAt = scheduledAt + random.integer(-15, 40) * MINUTE_MS;
    const outcome = outcomeOf(random, isWeekend(day.number) ? 0.78 : 0.92, takenAt);
    const isPast = Math.max(scheduledAt, takenAt) <= day.timeline.until;
    yield toDose(medication, scheduledAt, {
      scheduledAt: timestampFromMs(scheduledAt),
      ...(isPast ? outcome : { status: 'pending' }),
    });
  }
}

function outcomeOf(random: Random, likelihood: number, takenAt: number) {
  if (random.chance(likelihood)) return { status: 'taken', takenAt: timestampFromMs(takenAt) };
  return random.chance(0.3) ? { status: 'skipped', reason: random.pick(REASONS) } : { status: 'missed' };
}

function toDose({ key, dosage }: Medication, at: number, outcome: object): SyntheticHealthRecord {
  return {
    key: `${key} ${new Date(at).toISOString()}`,
    source: 'manual',
    record: { case: 'adherenceEntry', value: { medicationKey: key, dose: dosage, ...outcome } },
  };
}
