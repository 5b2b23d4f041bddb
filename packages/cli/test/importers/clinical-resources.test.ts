import { describe, expect, test } from '@jest/globals';
import { snomed } from '@phds/test-kit/bundle-files';
import { map, reasonOf, recordOf } from './mapping.ts';

describe('a condition', () => {
  const condition = (change: object) => ({
    resourceType: 'Condition',
    id: 'c1',
    code: snomed('38341003', 'Hypertension'),
    ...change,
  });
  const status = (code: string) => ({ verificationStatus: { coding: [{ system: 'any', code }] } });

  test('is stored once, as a condition and not as an EHR record', () => {
    expect(map(condition({ severity: snomed('24484000', 'Severe'), onsetDateTime: '2019' }))).toEqual([
      {
        kind: 'record',
        record: {
          label: 'condition',
          key: 'Condition/c1',
          source: 'ehr',
          record: {
            case: 'condition',
            value: { name: 'Hypertension', severity: 'severe', sinceDate: '2019' },
          },
        },
      },
    ]);
  });

  test.each<[string, object]>([
    ['mild', { severity: snomed('255604002', '') }],
    ['moderate', { severity: snomed('6736007', '') }],
    ['severe', { severity: { text: 'Severe' } }],
    ['', { severity: { text: 'quite bad' } }],
    ['', {}],
  ])('severity "%s"', (severity, change) => {
    expect(recordOf(condition(change))).toMatchObject({ severity });
  });

  test.each<[string, object]>([
    ['2019', { onsetDateTime: '2019' }],
    ['2019-05', { onsetDateTime: '2019-05', recordedDate: '2020-01-01' }],
    ['2019-05-04', { onsetDateTime: '2019-05-04T23:30:00-10:00' }],
    ['2018-02', { onsetPeriod: { start: '2018-02' } }],
    ['2020-01-01', { recordedDate: '2020-01-01T10:00:00Z' }],
    ['', { onsetString: 'in childhood' }],
  ])('keeps sinceDate "%s" with its precision', (sinceDate, change) => {
    expect(recordOf(condition(change))).toMatchObject({ sinceDate });
  });

  test.each<[string, object]>([
    ['entered in error', status('entered-in-error')],
    ['refuted', status('refuted')],
    ['name is missing', { code: {} }],
    ['date is not in the calendar', { onsetDateTime: '2019-13' }],
    ['states that there is no condition', { code: snomed('160245001', 'No current problems') }],
  ])('is refused: %s', (reason, change) => {
    expect(reasonOf(condition(change))).toBe(reason);
  });
});

describe('an allergy', () => {
  const allergy = (change: object) => ({
    resourceType: 'AllergyIntolerance',
    id: 'a1',
    code: { text: 'Peanut' },
    ...change,
  });

  test('has the severity of its worst reaction', () => {
    const reaction = [{ severity: 'mild' }, { severity: 'severe' }, { severity: 'moderate' }];
    expect(recordOf(allergy({ reaction }))).toMatchObject({ name: 'Peanut', severity: 'severe' });
  });

  test('does not use criticality as severity', () => {
    expect(recordOf(allergy({ criticality: 'high' }))).toMatchObject({ severity: '' });
  });

  test('that states the absence of allergies is skipped', () => {
    const none = allergy({ code: snomed('716186003', 'No known allergy') });
    expect(reasonOf(none)).toBe('states that there is no allergy');
  });
});

describe('an appointment', () => {
  const appointment = (change: object) => ({
    resourceType: 'Appointment',
    id: 'p1',
    status: 'booked',
    description: 'Annual check',
    start: '2026-05-04T10:00:00.000+02:00',
    ...change,
  });
  const clinic = { resourceType: 'Location', id: 'l1', name: 'Clinic, room 3' };

  test('keeps its offset, and names the location but no person', () => {
    const participant = [
      { actor: { reference: 'urn:uuid:d1', type: 'Practitioner', display: 'Dr. Barry' } },
      { actor: { reference: 'urn:uuid:l1' } },
    ];
    const specialty = [{ text: 'Cardiology' }];
    expect(recordOf(appointment({ participant, specialty }), [clinic])).toEqual({
      title: 'Annual check',
      dateTime: '2026-05-04T10:00:00.000+02:00',
      specialty: 'Cardiology',
      location: 'Clinic, room 3',
    });
  });

  test.each<[string, object]>([
    ['was cancelled', { status: 'cancelled' }],
    ['appointment was cancelled or missed', { status: 'noshow' }],
    ['date is missing', { start: undefined }],
    ['start is not an instant', { start: '2026-05-04' }],
    ['time has no offset', { start: '2026-05-04T10:00:00' }],
  ])('is refused: %s', (reason, change) => {
    expect(reasonOf(appointment(change))).toBe(reason);
  });

  test('of another patient is refused', () => {
    const patient = { resourceType: 'Patient', id: 'p' };
    const participant = [{ actor: { reference: 'Patient/other' } }];
    expect(reasonOf(appointment({ participant }), [patient])).toBe('about another patient');
  });
});

describe('a patient', () => {
  const facts = (patient: object) => map({ resourceType: 'Patient', id: 'p', ...patient });

  test('yields the current name, gender and date of birth', () => {
    const name = [
      { use: 'old', family: 'Byron' },
      { use: 'nickname', text: 'Addie' },
      { use: 'official', given: ['Augusta', 'Ada'], family: 'Lovelace', prefix: ['Countess'] },
    ];
    expect(facts({ name, gender: 'female', birthDate: '1815-12-10' })).toEqual([
      {
        kind: 'profile',
        facts: { name: 'Augusta Ada Lovelace', gender: 'female', dateOfBirth: '1815-12-10' },
      },
    ]);
  });

  test('yields nothing that it does not state clearly', () => {
    expect(facts({ gender: 'F', birthDate: '1815' })).toEqual([
      { kind: 'profile', facts: {} },
      { kind: 'refused', reason: 'gender is not an administrative gender' },
      { kind: 'refused', reason: 'date of birth is not a full date' },
    ]);
  });
});
