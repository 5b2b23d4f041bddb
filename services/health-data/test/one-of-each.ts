import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { at, type Harness, reading } from './harness.ts';

const TIME = '2026-01-02T10:00:00Z';

export type HealthRecordInit = NonNullable<MessageInitShape<typeof HealthRecordSchema>['record']>;

/** A record of each kind with this text, all at the same time; adherence is that of the medication. */
export function recordsOf(text: string): HealthRecordInit[] {
  const timestamp = at(TIME);
  return [
    { case: 'symptom', value: { description: text, timestamp } },
    { case: 'medication', value: { name: 'Same', dosage: text } },
    { case: 'adherenceEntry', value: { medicationKey: text, status: 'taken', takenAt: timestamp } },
    { case: 'condition', value: { name: text } },
    { case: 'allergy', value: { name: text } },
    { case: 'appointment', value: { title: text, dateTime: '2026-01-02T10:00:00+01:00' } },
    { case: 'moodEntry', value: { mood: 'neutral', note: text, timestamp } },
    {
      case: 'report',
      value: { generatedAt: timestamp, from: '2026-01-01', to: '2026-01-02', summary: text },
    },
    { case: 'ehrRecord', value: { resourceType: 'Observation', summary: text, timestamp } },
  ];
}

/** Creates a user with a heart rate, a weight, a profile and a record of each kind (`a` of `ehr`). */
export async function fillOneOfEach(harness: Harness, userId: string): Promise<void> {
  await harness.ingestion.putProfile({ userId, name: 'Ada' });
  await harness.putReadings(userId, [reading('Heart Rate', TIME, 60), reading('Weight', TIME, 70)]);
  const { refusals } = await harness.putHealthRecords(
    userId,
    recordsOf('a').map((record) => ({ key: 'a', source: 'ehr', record })),
  );
  if (refusals.length > 0) throw new Error(refusals[0]?.reason);
}
