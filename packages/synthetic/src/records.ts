import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { formatDay, formatInstant, isWeekend, MINUTE_MS } from './calendar.ts';
import { createSetting, type Setting } from './day.ts';
import type { Medication } from './person.ts';
import type { Random } from './random.ts';
import type { Timeline } from './timeline.ts';

/** A record in the form of the ingestion rpc. */
type SyntheticHealthRecord = MessageInitShape<typeof HealthRecordSchema>;

const REPORT_DAYS = 30;

/** Every health record of a timeline. Keys depend only on content and time, so repeated generation yields the same records. */
export function* recordsIn(timeline: Timeline): Generator<SyntheticHealthRecord> {
  const { person, seed } = timeline;
  const setting = createSetting(person, seed);
  yield* standingFacts(timeline);
  for (let day = timeline.firstDay; day <= timeline.lastDay; day += 1) {
    for (const medication of person.history.medications)
      yield* adherence(setting, day, timeline.until, medication);
    yield* diary(setting, day, timeline.until);
  }
  yield* careRecords(setting, timeline);
  if (person.history.reports) yield* reports(setting, timeline);
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
function* careRecords(
  setting: Setting,
  { lastDay, person, until }: Timeline,
): Generator<SyntheticHealthRecord> {
  const at = (inDays: number, hour: number) => setting.at(lastDay + inDays, hour * 60);
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
function* reports(
  setting: Setting,
  { firstDay, lastDay, person, until }: Timeline,
): Generator<SyntheticHealthRecord> {
  for (let last = lastDay - 1; last - REPORT_DAYS + 1 >= firstDay; last -= REPORT_DAYS) {
    const [from, to] = [formatDay(last - REPORT_DAYS + 1), formatDay(last)];
    const generatedAt = setting.at(last + 1, 5 * 60);
    if (generatedAt > until) continue;
    const summary = `${person.profile?.name}, ${from} to ${to}: measured every day, sleep regular, medication taken on most days.`;
    const value = { generatedAt: timestampFromMs(generatedAt), from, to, summary };
    yield { key: `${from} ${to}`, source: 'synthetic', record: { case: 'report', value } };
  }
}

const MOOD_CHANCE = 0.6;

/** Intermittent symptoms, and a mood on most evenings. */
function* diary(setting: Setting, day: number, until: number): Generator<SyntheticHealthRecord> {
  const { symptoms, moods } = setting.person.history;
  const random = setting.random(day, 'diary');
  const date = formatDay(day);
  for (const { description, severity, chance } of symptoms) {
    const at = setting.at(day, random.integer(8 * 60, 21 * 60));
    if (!random.chance(chance) || at > until) continue;
    const value = { description, severity, timestamp: timestampFromMs(at) };
    yield { key: `${date} ${description}`, source: 'manual', record: { case: 'symptom', value } };
  }
  if (moods.length === 0 || !random.chance(MOOD_CHANCE)) return;
  const at = setting.at(day, random.integer(18 * 60, 22 * 60));
  if (at > until) return;
  const { mood, note } = random.pick(moods);
  const value = { mood, note, timestamp: timestampFromMs(at) };
  yield { key: `${date} mood`, source: 'manual', record: { case: 'moodEntry', value } };
}

const AS_NEEDED_CHANCE = 0.12;
const REASONS = ['Felt unwell', 'Upset stomach', 'On the road', 'Ran out'];

/** The outcomes of a day's doses. Most are taken, fewer on weekends. Future doses are pending. */
function* adherence(
  setting: Setting,
  day: number,
  until: number,
  medication: Medication,
): Generator<SyntheticHealthRecord> {
  const { key, times } = medication;
  const random = setting.random(day, `adherence ${key}`);
  if (times.length === 0 && random.chance(AS_NEEDED_CHANCE)) {
    const takenAt = setting.at(day, random.integer(9 * 60, 21 * 60));
    const outcome = { status: 'taken', takenAt: timestampFromMs(takenAt) };
    if (takenAt <= until) yield toDose(medication, takenAt, outcome);
  }
  for (const minute of times) {
    const scheduledAt = setting.at(day, minute);
    const takenAt = scheduledAt + random.integer(-15, 40) * MINUTE_MS;
    const outcome = outcomeOf(random, isWeekend(day) ? 0.78 : 0.92, takenAt);
    const isPast = Math.max(scheduledAt, takenAt) <= until;
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
