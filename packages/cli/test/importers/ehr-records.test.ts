import { timestampDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { map, reasonOf, recordOf } from './mapping.ts';

describe('an EHR record', () => {
  const at = '2019-05-04T10:00:00Z';

  test.each<[string, object]>([
    [
      'Encounter for symptom; ambulatory; reason: Rhinitis',
      {
        resourceType: 'Encounter',
        type: [{ text: 'Encounter for symptom' }],
        class: { code: 'AMB' },
        reasonCode: [{ text: 'Rhinitis' }],
        participant: [{ individual: { display: 'Dr. Barry' } }],
        period: { start: at },
      },
    ],
    [
      'Appendectomy; note: without complications',
      {
        resourceType: 'Procedure',
        code: { text: 'Appendectomy' },
        note: [{ text: 'without <b>complications</b>' }],
        performedPeriod: { start: at },
      },
    ],
    [
      'zoster; dose 2',
      {
        resourceType: 'Immunization',
        vaccineCode: { text: 'zoster' },
        protocolApplied: [{ doseNumberPositiveInt: 2 }],
        occurrenceDateTime: at,
      },
    ],
    [
      'Lipid panel; conclusion: normal; results: Cholesterol, Triglycerides',
      {
        resourceType: 'DiagnosticReport',
        code: { text: 'Lipid panel' },
        text: { div: '<div>narrative</div>' },
        conclusion: 'normal',
        result: [{ display: 'Cholesterol' }, { display: 'Triglycerides' }],
        effectiveDateTime: at,
      },
    ],
    [
      'Self care; activities: Diet, Education',
      {
        resourceType: 'CarePlan',
        category: [{ text: 'Self care' }],
        activity: [{ detail: { code: { text: 'Diet' } } }, { detail: { code: { text: 'Education' } } }],
        period: { start: at },
      },
    ],
    [
      'Hemoglobin A1c < 7.0; in-progress',
      {
        resourceType: 'Goal',
        description: { text: 'Hemoglobin A1c < 7.0' },
        achievementStatus: { coding: [{ code: 'in-progress' }] },
        startDate: at,
      },
    ],
    [
      'Care team; reason: Diabetes',
      {
        resourceType: 'CareTeam',
        reasonCode: [{ text: 'Diabetes' }],
        participant: [{ member: { display: 'Dr. Barry' } }],
        period: { start: at },
      },
    ],
    [
      'Chest X-ray; modality: Radiography; body site: Thorax',
      {
        resourceType: 'ImagingStudy',
        description: 'Chest X-ray',
        series: [{ modality: { display: 'Radiography' }, bodySite: { display: 'Thorax' } }],
        started: at,
      },
    ],
    ['Device: Stent', { resourceType: 'Device', type: { text: 'Stent' }, manufactureDate: at }],
    [
      'Discharge summary; After surgery',
      {
        resourceType: 'DocumentReference',
        type: { text: 'Discharge summary' },
        description: 'After surgery',
        date: at,
      },
    ],
  ])('%s', (summary, resource) => {
    const { resourceType } = resource as { resourceType: string };
    const value = recordOf({ id: '1', ...resource }) as { timestamp: Parameters<typeof timestampDate>[0] };
    expect(value).toMatchObject({ resourceType, summary });
    expect(timestampDate(value.timestamp)).toEqual(new Date(at));
  });

  test('with only a year is dated on its first day', () => {
    const value = recordOf({
      resourceType: 'Procedure',
      id: '1',
      code: { text: 'Appendectomy' },
      performedDateTime: '1984',
    }) as { timestamp: Parameters<typeof timestampDate>[0] };
    expect(timestampDate(value.timestamp)).toEqual(new Date('1984-01-01T00:00:00Z'));
  });

  test('without a date is refused', () => {
    expect(reasonOf({ resourceType: 'Goal', id: '1', description: { text: 'x' } })).toBe('date is missing');
  });

  test.each([
    ['Procedure', 'not-done', 'was not done'],
    ['Immunization', 'not-done', 'was not done'],
    ['DiagnosticReport', 'entered-in-error', 'entered in error'],
  ])('%s with status %s is refused', (resourceType, status, reason) => {
    expect(reasonOf({ resourceType, id: '1', status })).toBe(reason);
  });

  test.each([
    ['Claim', 'financial'],
    ['ExplanationOfBenefit', 'financial'],
    ['Practitioner', 'only serves other resources'],
    ['Provenance', 'administrative'],
  ])('%s is skipped: %s', (resourceType, reason) => {
    expect(map({ resourceType, id: '1' })).toEqual([{ kind: 'left-out', reason }]);
  });

  test.each(['Horoscope', '<script>', '', '__proto__'])('an unknown type (%s) is refused', (resourceType) => {
    expect(reasonOf({ resourceType, id: '1' })).toBe('resource type is unknown');
  });
});
