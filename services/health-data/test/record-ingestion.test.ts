import type { MessageInitShape } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { HealthRecordKind, type HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { at, bodyOf, type Harness, refusalOf, startHarness } from './harness.ts';

type HealthRecordMessage = MessageInitShape<typeof HealthRecordSchema>;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => harness[Symbol.asyncDispose]());

const PAST = at('2026-01-02T10:00:00Z');

/** One valid record of each kind. */
const EVERY_KIND: Record<string, HealthRecordMessage['record']> = {
  symptom: { case: 'symptom', value: { description: 'Cough', severity: 'mild', timestamp: PAST } },
  medication: { case: 'medication', value: { name: 'Aspirin', dosage: '100 mg', pattern: 'QD' } },
  'adherence-entry': {
    case: 'adherenceEntry',
    value: { medicationKey: 'medication', status: 'taken', scheduledAt: PAST },
  },
  condition: { case: 'condition', value: { name: 'Asthma', sinceDate: '2019-05' } },
  allergy: { case: 'allergy', value: { name: 'Pollen', severity: 'severe' } },
  appointment: { case: 'appointment', value: { title: 'Visit', dateTime: '2026-05-01T09:00:00-05:00' } },
  'mood-entry': { case: 'moodEntry', value: { mood: 'pleasant', timestamp: PAST } },
  report: {
    case: 'report',
    value: { generatedAt: PAST, from: '2026-01-01', to: '2026-01-01', summary: 'Fine.' },
  },
  'ehr-record': {
    case: 'ehrRecord',
    value: { resourceType: 'Procedure', summary: 'X-ray', timestamp: PAST },
  },
};
const batch: HealthRecordMessage[] = Object.entries(EVERY_KIND).map(([key, record]) => ({
  key,
  source: 'ehr',
  record: record!,
}));

describe('PutHealthRecords', () => {
  test('is idempotent for every kind; changed content updates the same record', async () => {
    expect(await harness.putHealthRecords('ada', batch)).toMatchObject({
      inserted: 9,
      updated: 0,
      unchanged: 0,
      refusals: [],
    });
    expect(await harness.putHealthRecords('ada', batch)).toMatchObject({
      inserted: 0,
      updated: 0,
      unchanged: 9,
    });
    const changed: HealthRecordMessage[] = [
      {
        key: 'symptom',
        source: 'ehr',
        record: { case: 'symptom', value: { description: 'Cough', timestamp: PAST } },
      },
      ...batch.slice(1),
    ];
    expect(await harness.putHealthRecords('ada', changed)).toMatchObject({
      inserted: 0,
      updated: 1,
      unchanged: 8,
    });
    const { data, pagination } = bodyOf(
      await harness.reads.read({ endpoint: Endpoint.SYMPTOMS }, await harness.about('ada')),
    );
    expect(data).toMatchObject([{ description: 'Cough', severity: null }]);
    expect(pagination.total).toBe(1);
  });

  test('the same key of another kind, source or user is a different record', async () => {
    const allergy = EVERY_KIND['allergy']!;
    const condition = EVERY_KIND['condition']!;
    const result = await harness.putHealthRecords('grace', [
      { key: 'x', source: 'ehr', record: allergy },
      { key: 'x', source: 'ehr', record: condition },
      { key: 'x', source: 'manual', record: allergy },
      { key: 'x', source: 'manual', record: allergy },
    ]);
    expect(result).toMatchObject({ inserted: 3, unchanged: 1 });
    expect(
      await harness.putHealthRecords('linus', [{ key: 'x', source: 'ehr', record: allergy }]),
    ).toMatchObject({
      inserted: 1,
    });
  });

  test('refuses items by index with a reason and stores the rest', async () => {
    const value = (record: HealthRecordMessage['record']): HealthRecordMessage => ({
      key: 'k',
      source: 'ehr',
      record: record!,
    });
    const result = await harness.putHealthRecords('refused', [
      { key: 'k', source: 'ehr' },
      { key: '', source: 'ehr', record: EVERY_KIND['allergy']! },
      { key: 'k', source: 'EHR', record: EVERY_KIND['allergy']! },
      value({ case: 'symptom', value: { description: ' ', timestamp: PAST } }),
      value({ case: 'symptom', value: { description: 'x', severity: 'awful', timestamp: PAST } }),
      value({ case: 'symptom', value: { description: 'x' } }),
      value({ case: 'symptom', value: { description: 'x', timestamp: at('2027-01-01T00:00:00Z') } }),
      value({ case: 'adherenceEntry', value: { medicationKey: 'm', status: 'taken' } }),
      value({ case: 'condition', value: { name: 'x', sinceDate: '2019-13' } }),
      value({ case: 'appointment', value: { title: 'x', dateTime: '2026-05-01T09:00:00' } }),
      value({ case: 'moodEntry', value: { mood: 'great', timestamp: PAST } }),
      value({
        case: 'report',
        value: { generatedAt: PAST, from: '2026-01-02', to: '2026-01-01', summary: 'x' },
      }),
      value({
        case: 'ehrRecord',
        value: { resourceType: 'Procedure', summary: 'x'.repeat(501), timestamp: PAST },
      }),
      value({ case: 'allergy', value: { name: 'nul\u0000l' } }),
      value({ case: 'medication', value: { name: 'x', pattern: 'SOMETIMES' } }),
      value(EVERY_KIND['allergy']),
    ]);
    expect(result.inserted).toBe(1);
    const reasons = result.refusals.map(({ reason }) => reason);
    expect(result.refusals.map(({ index }) => index)).toEqual(
      Array.from({ length: 15 }, (_, index) => index),
    );
    expect(reasons.map((reason) => reason.split(' must be one of')[0])).toEqual([
      'record is missing',
      'key is missing',
      'source must be a label such as apple-watch, at most 40 characters',
      'description is missing',
      'severity',
      'timestamp is missing',
      'timestamp is more than 24 hours in the future',
      'scheduledAt and takenAt are both missing',
      'sinceDate must be YYYY, YYYY-MM or YYYY-MM-DD',
      'dateTime must be RFC 3339 with an offset',
      'mood',
      'to is before from',
      'summary is longer than 500 characters',
      'name holds control characters',
      'pattern',
    ]);
  });
});

function toRecordKind(name: string): HealthRecordKind {
  return HealthRecordKind[name.toUpperCase().replaceAll('-', '_') as keyof typeof HealthRecordKind];
}

describe('DeleteHealthRecords', () => {
  test('deletes every kind by natural key, once; a medication is deleted with its doses', async () => {
    await harness.putHealthRecords('gone', batch);
    const keys = Object.keys(EVERY_KIND).map((key) => ({ kind: toRecordKind(key), source: 'ehr', key }));
    const medication = keys.filter(({ key }) => key === 'medication');
    expect((await harness.ingestion.deleteHealthRecords({ userId: 'gone', keys: medication })).deleted).toBe(
      1,
    );
    expect((await harness.ingestion.deleteHealthRecords({ userId: 'gone', keys })).deleted).toBe(7);
    expect((await harness.ingestion.deleteHealthRecords({ userId: 'gone', keys })).deleted).toBe(0);
  });

  test('an unknown kind is named', async () => {
    const keys = [{ kind: 99 as HealthRecordKind, source: 'ehr', key: 'x' }];
    const refusal = await refusalOf(harness.ingestion.deleteHealthRecords({ userId: 'gone', keys }));
    expect(refusal.violations).toEqual([{ parameter: 'keys[0]', message: 'unknown kind' }]);
  });
});
