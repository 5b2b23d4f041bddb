import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DAY_MS, formatDay, formatInstant, HOUR_MS, toInstant } from '../calendar.ts';
import type { Timeline } from '../timeline.ts';
import { adherence } from './adherence.ts';
import { diary } from './diary.ts';
import type { SyntheticHealthRecord } from './record.ts';
import { createHealthRecordDay } from './record-day.ts';

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
