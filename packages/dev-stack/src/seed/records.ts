import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { RecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { Day } from './day.ts';
import { listDays, toLocalTime } from './day.ts';
import type { MedicalHistory, SeedMedication } from './medical-history.ts';
import type { Person } from './person.ts';

/** A record as the ingestion rpc takes it. */
export type SeedRecord = MessageInitShape<typeof RecordSchema>;

const REPORT_DAYS = 30;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Every record of a person. Their keys depend on what and when: doing it again changes nothing. */
export function listRecords(person: Person, history: MedicalHistory, now: Date): SeedRecord[] {
  const days = listDays(person, now);
  return [
    ...standingFacts(history),
    ...medications(history),
    ...days.flatMap((day) => history.medications.flatMap((medication) => adherence(day, medication, now))),
    ...days
      .flatMap((day) => diary(day, history))
      .filter(({ at }) => at <= now)
      .map(({ record }) => record),
    ...appointments(days, history),
    ...careRecords(days, history),
    ...reports(person, days),
  ];
}

function standingFacts({ conditions, allergies }: MedicalHistory): SeedRecord[] {
  return [
    ...conditions.map((value) => ({
      key: value.name,
      source: 'ehr',
      record: { case: 'condition' as const, value },
    })),
    ...allergies.map((value) => ({
      key: value.name,
      source: 'ehr',
      record: { case: 'allergy' as const, value },
    })),
  ];
}

function medications(history: MedicalHistory): SeedRecord[] {
  return history.medications.map(({ key, name, dosage, frequency, condition, pattern }) => ({
    key,
    source: 'manual',
    record: { case: 'medication', value: { name, dosage, frequency, condition, pattern } },
  }));
}

/** What became of a day's doses: mostly taken, some late, a few skipped or missed; the next ones are pending. */
function adherence(day: Day, medication: SeedMedication, now: Date): SeedRecord[] {
  const random = day.random(`adherence ${medication.key}`);
  if (medication.times.length === 0)
    return random.chance(0.12) ? [asNeeded(day, medication, now)].flat() : [];
  return medication.times.map((minute) => {
    const scheduledAt = day.at(minute);
    const takenAt = new Date(scheduledAt.getTime() + random.integer(-10, 55) * MINUTE_MS);
    const luck = random.between(0, 1);
    const isOver = takenAt <= now && scheduledAt <= now;
    return {
      key: `${medication.key} ${scheduledAt.toISOString()}`,
      source: 'manual',
      record: {
        case: 'adherenceEntry',
        value: {
          medicationKey: medication.key,
          scheduledAt: timestampFromDate(scheduledAt),
          dose: medication.dosage,
          ...(isOver ? outcome(luck, takenAt) : { status: 'pending' }),
        },
      },
    };
  });
}

function outcome(luck: number, takenAt: Date) {
  if (luck < 0.91) return { status: 'taken', takenAt: timestampFromDate(takenAt) };
  return luck < 0.96 ? { status: 'missed' } : { status: 'skipped', reason: 'Felt unwell' };
}

function asNeeded(day: Day, { key, dosage }: SeedMedication, now: Date): SeedRecord[] {
  const takenAt = day.at(day.random(`as needed ${key}`).integer(9 * 60, 21 * 60));
  if (takenAt > now) return [];
  const value = { medicationKey: key, status: 'taken', takenAt: timestampFromDate(takenAt), dose: dosage };
  return [
    { key: `${key} ${takenAt.toISOString()}`, source: 'manual', record: { case: 'adherenceEntry', value } },
  ];
}

function diary(day: Day, history: MedicalHistory): { at: Date; record: SeedRecord }[] {
  const random = day.random('diary');
  const symptoms = history.symptoms
    .filter(({ chance }) => random.chance(chance))
    .map(({ description, severity }) => {
      const at = day.at(random.integer(8 * 60, 21 * 60));
      const value = { description, severity, timestamp: timestampFromDate(at) };
      return { at, record: manual(`${day.date} ${description}`, { case: 'symptom', value }) };
    });
  if (!random.chance(0.6)) return symptoms;
  const at = day.at(random.integer(18 * 60, 22 * 60));
  const { mood, note } = random.pick(history.moods);
  const value = { mood, note, timestamp: timestampFromDate(at) };
  return [...symptoms, { at, record: manual(`${day.date} mood`, { case: 'moodEntry', value }) }];
}

function manual(key: string, record: SeedRecord['record']): SeedRecord {
  return { key, source: 'manual', ...(record === undefined ? {} : { record }) };
}

function appointments(days: readonly Day[], history: MedicalHistory): SeedRecord[] {
  const today = days.at(-1);
  if (today === undefined) return [];
  return history.appointments.map(({ title, inDays, hour, specialty, location }) => {
    const dateTime = toLocalTime(today.at(inDays * 1440 + hour * 60), today.person.timeZone);
    const value = { title, dateTime, specialty, location };
    return { key: `${dateTime} ${title}`, source: 'ehr', record: { case: 'appointment', value } };
  });
}

function careRecords(days: readonly Day[], history: MedicalHistory): SeedRecord[] {
  const today = days.at(-1);
  if (today === undefined) return [];
  return history.ehr.map(({ resourceType, summary, inDays }) => {
    const at = today.at(inDays * 1440 + 11 * 60);
    const value = { resourceType, summary, timestamp: timestampFromDate(at) };
    return {
      key: `${at.toISOString()} ${resourceType}`,
      source: 'ehr',
      record: { case: 'ehrRecord', value },
    };
  });
}

/** One report for each full stretch of thirty days. */
function reports({ profile }: Person, days: readonly Day[]): SeedRecord[] {
  const count = Math.floor((days.length - 1) / REPORT_DAYS);
  return Array.from({ length: count }, (_, index) => {
    const last = days.length - 2 - index * REPORT_DAYS;
    const [from, to] = [days[last - REPORT_DAYS + 1], days[last]] as [Day, Day];
    const generatedAt = new Date(to.at(0).getTime() + DAY_MS + 5 * 60 * MINUTE_MS);
    const summary = `${profile.name}, ${from.date} to ${to.date}: readings on ${REPORT_DAYS} of ${REPORT_DAYS} days, sleep regular, medication taken on most days.`;
    const value = { generatedAt: timestampFromDate(generatedAt), from: from.date, to: to.date, summary };
    return { key: `${from.date} ${to.date}`, source: 'synthetic', record: { case: 'report', value } };
  });
}
