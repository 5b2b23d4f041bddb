import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { METRICS } from '@phds/catalog/metrics';
import { loinc, observation, snomed } from '@phds/test-kit/bundle-files';
import type { JsonObject } from '../../src/importers/fhir/json-values.ts';
import { METRIC_OF_LOINC } from '../../src/importers/fhir/observations.ts';
import type { Outcome } from '../../src/importers/fhir/outcome.ts';
import { References } from '../../src/importers/fhir/references.ts';
import { mapResource } from '../../src/importers/fhir/resources.ts';

/** Maps the last of the resources; the others are in the same bundle. */
function map(resource: object, others: readonly object[] = [], timeZone = 'UTC'): readonly Outcome[] {
  const references = new References();
  const toUrl = (each: object) => ('id' in each ? `urn:uuid:${String(each.id)}` : '');
  for (const each of [...others, resource]) references.add(toUrl(each), each as JsonObject);
  const patient = references.patients()[0] ?? null;
  const fullUrl = toUrl(resource);
  return mapResource({ resource: resource as JsonObject, fullUrl, references, patient, timeZone });
}

/** The content of the single record that a resource is mapped to. Throws for any other result. */
function recordOf(resource: object, others: readonly object[] = []): unknown {
  const [outcome] = map(resource, others);
  if (outcome?.kind !== 'record') throw new TypeError(`became ${JSON.stringify(outcome)}`);
  return outcome.record.record.value;
}

/** The reason why a resource is refused. Throws if it is not. */
function reasonOf(resource: object, others: readonly object[] = []): string {
  const [outcome] = map(resource, others);
  if (outcome?.kind !== 'refused') throw new TypeError(`became ${JSON.stringify(outcome)}`);
  return outcome.reason;
}

describe('a condition', () => {
  const condition = (change: object) => ({
    resourceType: 'Condition',
    id: 'c1',
    code: snomed('38341003', 'Hypertension'),
    ...change,
  });

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
    ['2019-05-04', { onsetDateTime: '2019-05-04T23:30:00-10:00' }],
    ['2018-02', { onsetPeriod: { start: '2018-02' } }],
    ['2020-01-01', { recordedDate: '2020-01-01T10:00:00Z' }],
    ['', { onsetString: 'in childhood' }],
  ])('keeps sinceDate "%s" with its precision', (sinceDate, change) => {
    expect(recordOf(condition(change))).toMatchObject({ sinceDate });
  });

  test.each<[string, object]>([
    ['name is missing', { code: {} }],
    ['date is not in the calendar', { onsetDateTime: '2019-13' }],
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
});

describe('a statement that nothing is known', () => {
  const ips = 'http://hl7.org/fhir/uv/ips/CodeSystem/absent-unknown-uv-ips';
  const nothing = [{ kind: 'left-out', reason: 'states that nothing is known' }];
  const codings = [
    ...['no-known-allergies', 'no-problem-info', 'new-code'].map((code) => ({ system: ips, code })),
    ...['716186003', '160244002', '409137002', '429625007', '428607008', '716184000', '1003774007'],
    ...['428197003', '160245001', '787481004', '1234391000168107'],
  ].map((coding) => (typeof coding === 'string' ? snomed(coding, '').coding : [coding]));
  const texts =
    'No known latex allergy (situation)|Nil known|None known|No current medications|No information about allergies' +
    '|NKA|nkda|NKFA|Allergies Not on File|Patient not asked';

  test.each([...codings.map((coding) => ({ coding })), ...texts.split('|').map((text) => ({ text }))])(
    'is left out: %j',
    (code) => {
      expect(map({ resourceType: 'AllergyIntolerance', id: 'a1', code })).toEqual(nothing);
    },
  );

  test.each<[string, object]>([
    ['Condition', { code: { text: 'No known problems' } }],
    ['MedicationStatement', { medicationCodeableConcept: { text: 'No known medications' } }],
    ['MedicationRequest', { medicationReference: { reference: 'Medication/none' } }],
    ['MedicationAdministration', { medicationReference: { display: 'No current medications' } }],
    ['Immunization', { vaccineCode: { coding: [{ display: 'No information about immunizations' }] } }],
    ['Procedure', { code: { text: 'No known procedures' } }],
    ['Device', { type: { text: 'No known devices' } }],
  ])('is left out of %s', (resourceType, content) => {
    const coding = [{ system: ips, code: 'no-medication-info' }];
    const none = { resourceType: 'Medication', id: 'none', code: { coding } };
    expect(map({ resourceType, id: 'r1', ...content }, [none])).toEqual(nothing);
  });

  test.each(['Asthma with no known trigger', 'Notalgia', 'Nilotinib allergy', 'Node-negative carcinoma'])(
    'is not "%s"',
    (name) => {
      expect(recordOf({ resourceType: 'Condition', id: 'c1', code: { text: name } })).toMatchObject({ name });
    },
  );
});

describe('a resource that states the opposite of its content', () => {
  const extended = { modifierExtension: [{ url: 'urn:not', valueBoolean: true }] };
  const notDone = 'states that it was not done, given or taken, or must not be';
  const changed = (what: string) => `has ${what}, which may change its meaning`;

  test.each<[string, string, object]>([
    ['refuted', 'Condition', { verificationStatus: { coding: [{ system: 'any', code: 'refuted' }] } }],
    ['refuted', 'Condition', { verificationStatus: { text: 'Refuted' } }],
    ['refuted', 'AllergyIntolerance', { verificationStatus: 'refuted' }],
    ['refuted', 'AllergyIntolerance', { status: 'refuted' }],
    ['entered in error', 'Condition', { verificationStatus: 'entered-in-error' }],
    ['was declined', 'MedicationDispense', { status: 'declined' }],
    ['was not done', 'MedicationDispense', { status: 'preparation' }],
    [notDone, 'MedicationRequest', { doNotPerform: true }],
    [notDone, 'ServiceRequest', { doNotPerform: true }],
    [notDone, 'Procedure', { notDone: true }],
    [notDone, 'Procedure', { notPerformed: true }],
    [notDone, 'Immunization', { notGiven: true }],
    [notDone, 'MedicationAdministration', { wasNotGiven: true }],
    [notDone, 'MedicationStatement', { taken: 'n' }],
    [notDone, 'MedicationStatement', { wasNotTaken: true }],
    ['the dose was too weak to count', 'Immunization', { isSubpotent: true }],
    ['did not happen', 'AdverseEvent', { actuality: 'potential' }],
    [changed('implicitRules'), 'Condition', { implicitRules: 'urn:rules' }],
    [changed('a modifierExtension'), 'Condition', extended],
    [changed('a modifierExtension'), 'Patient', extended],
    [changed('a modifierExtension'), 'MedicationStatement', { dosage: [extended] }],
  ])('is refused: %s (%s %j)', (reason, resourceType, change) => {
    expect(reasonOf({ resourceType, id: 'r1', code: { text: 'Asthma' }, ...change })).toBe(reason);
  });

  test.each<[string, object]>([
    [
      'MedicationStatement',
      { taken: 'y', wasNotTaken: false, medicationCodeableConcept: { text: 'Aspirin' } },
    ],
    ['Condition', { verificationStatus: 'confirmed', code: { text: 'Asthma' } }],
  ])('is not %s %j', (resourceType, content) => {
    expect(map({ resourceType, id: 'r1', ...content })).toMatchObject([{ kind: 'record' }]);
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
    ['start has no time of day', { start: '2026-05-04' }],
    ['start has no offset such as Z or +02:00', { start: '2026-05-04T10:00:00' }],
  ])('is refused: %s', (reason, change) => {
    expect(reasonOf(appointment(change))).toBe(reason);
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

const request = (change: object) => ({
  resourceType: 'MedicationRequest',
  id: 'm1',
  status: 'active',
  medicationCodeableConcept: { text: 'Metformin 500 MG' },
  ...change,
});
const dosed = (dosage: object) => request({ dosageInstruction: [dosage] });
const repeated = (repeat: object) => dosed({ timing: { repeat } });

describe('the name of a medication', () => {
  const metformin = { resourceType: 'Medication', id: 'x', code: { text: 'Metformin' } };

  test.each([
    ['a urn', { reference: 'urn:uuid:x' }],
    ['a relative reference', { reference: 'Medication/x' }],
    ['an absolute reference', { reference: 'https://ehr.example/fhir/Medication/x' }],
    ['a reference to a version', { reference: 'Medication/x/_history/2' }],
  ])('is found through %s', (_, medicationReference) => {
    const found = request({ medicationCodeableConcept: undefined, medicationReference });
    expect(recordOf(found, [metformin])).toMatchObject({ name: 'Metformin' });
  });

  test('is found in a contained resource', () => {
    const found = request({
      medicationCodeableConcept: undefined,
      medicationReference: { reference: '#x' },
      contained: [metformin],
    });
    expect(recordOf(found)).toMatchObject({ name: 'Metformin' });
  });

  test('is the display of a reference to a resource outside the bundle', () => {
    const medicationReference = { reference: 'Medication/elsewhere', display: 'Metformin ER' };
    const found = request({ medicationCodeableConcept: undefined, medicationReference });
    expect(recordOf(found)).toMatchObject({ name: 'Metformin ER' });
  });

  test('is required', () => {
    const medicationReference = { reference: 'Medication/elsewhere' };
    const nameless = request({ medicationCodeableConcept: undefined, medicationReference });
    expect(reasonOf(nameless)).toBe('name is missing');
  });
});

describe('the reason for a medication', () => {
  test('is taken from the resource or through a reference', () => {
    const diabetes = { resourceType: 'Condition', id: 'd', code: { text: 'Diabetes' } };
    const byReference = request({ reasonReference: [{ reference: 'urn:uuid:d' }] });
    expect(recordOf(byReference, [diabetes])).toMatchObject({ condition: 'Diabetes' });
    expect(recordOf(request({ reasonCode: [{ text: 'Prediabetes' }] }))).toMatchObject({
      condition: 'Prediabetes',
    });
    expect(recordOf(request({}))).toMatchObject({ condition: '' });
  });
});

describe('the pattern of a medication', () => {
  test.each<[string, string, object]>([
    ['QD', 'once a day', { frequency: 1, period: 1, periodUnit: 'd' }],
    ['BID', '2 times a day', { frequency: 2, period: 1, periodUnit: 'd' }],
    ['OTHER', '5 times a day', { frequency: 5, period: 1, periodUnit: 'd' }],
    ['QOD', 'every 2 days', { frequency: 1, period: 2, periodUnit: 'd' }],
    ['WK', 'once a week', { frequency: 1, period: 1, periodUnit: 'wk' }],
    ['Q4H', 'every 4 hours', { frequency: 1, period: 4, periodUnit: 'h' }],
    ['BID', 'every 12 hours', { frequency: 1, period: 12, periodUnit: 'h' }],
    ['Q1H', 'once an hour', { frequency: 1, period: 1, periodUnit: 'h' }],
    ['OTHER', 'every 3 days', { frequency: 1, period: 3, periodUnit: 'd' }],
    ['OTHER', 'once a day', { frequency: 1, frequencyMax: 2, period: 1, periodUnit: 'd' }],
    ['BED', 'once a day', { when: ['HS'] }],
    ['TID', '3 times a day', { timeOfDay: ['08:00:00', '12:00:00', '18:00:00'] }],
    ['WK', 'once a day', { dayOfWeek: ['mon'] }],
    ['OTHER', 'once a day', { dayOfWeek: ['mon', 'thu'] }],
    ['', '', { boundsPeriod: { start: '2019-01-01' } }],
  ])('%s: %s', (pattern, frequency, repeat) => {
    expect(recordOf(repeated(repeat))).toMatchObject({ pattern, frequency });
  });

  test('is the timing code if there is one', () => {
    const code = {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-GTSAbbreviation', code: 'BID' }],
    };
    expect(recordOf(dosed({ timing: { code } }))).toMatchObject({ pattern: 'BID' });
    expect(recordOf(dosed({ timing: { code: { text: 'with meals' } } }))).toMatchObject({
      pattern: 'OTHER',
      frequency: 'with meals',
    });
  });

  test('is PRN for as-needed medication with any rhythm', () => {
    expect(recordOf(dosed({ asNeededBoolean: true }))).toMatchObject({
      pattern: 'PRN',
      frequency: 'as needed',
    });
    const repeat = { frequency: 1, period: 6, periodUnit: 'h' };
    const headache = dosed({ asNeededCodeableConcept: { text: 'headache' }, timing: { repeat } });
    expect(recordOf(headache)).toMatchObject({ pattern: 'PRN', frequency: 'every 6 hours as needed' });
  });

  test('is OTHER when the rhythm changes over time', () => {
    const timing = (frequency: number) => ({ timing: { repeat: { frequency, period: 1, periodUnit: 'd' } } });
    expect(recordOf(request({ dosageInstruction: [timing(1), timing(2)] }))).toMatchObject({
      pattern: 'OTHER',
    });
  });

  test('is empty without a rhythm', () => {
    expect(recordOf(request({}))).toMatchObject({ pattern: '', frequency: '', dosage: '' });
  });
});

describe('the dosage of a medication', () => {
  test.each<[string, string, object]>([
    ['1 tablet', '', { doseAndRate: [{ doseQuantity: { value: 1, unit: 'tablet' } }] }],
    [
      '1–2 tablets',
      '',
      { doseAndRate: [{ doseRange: { low: { value: 1 }, high: { value: 2, unit: 'tablets' } } }] },
    ],
    ['one in the morning', '', { text: 'one in the morning' }],
    ['5 mL', 'with food', { text: 'with food', doseAndRate: [{ doseQuantity: { value: 5, unit: 'mL' } }] }],
  ])('"%s", "%s"', (dosage, frequency, instruction) => {
    expect(recordOf(dosed(instruction))).toMatchObject({ dosage, frequency });
  });
});

describe('a medication that was never taken', () => {
  test.each<[string, object]>([
    ['was cancelled', { status: 'cancelled' }],
    ['entered in error', { status: 'entered-in-error' }],
    ['was cancelled before it was taken', { status: 'draft' }],
  ])('is refused: %s', (reason, change) => {
    expect(reasonOf(request(change))).toBe(reason);
  });

  test.each(['active', 'stopped', 'completed', 'on-hold'])('that is %s is kept', (status) => {
    expect(recordOf(request({ status }))).toMatchObject({ name: 'Metformin 500 MG' });
  });
});

function readingsOf(resource: object) {
  return map(resource).map((outcome) => (outcome.kind === 'reading' ? outcome.reading : outcome));
}

describe('an observation with a code of the metric table', () => {
  test('becomes a reading with the unit of its UCUM code', () => {
    expect(readingsOf(observation('1', '29463-7', 72.5, 'kg'))).toEqual([
      {
        type: 'Weight',
        start: Date.parse('2019-05-04T08:00:00Z'),
        end: Date.parse('2019-05-04T08:00:00Z'),
        value: 72.5,
        unit: 'kg',
        source: 'ehr',
      },
    ]);
  });

  test.each([
    ['8867-4', 'Heart Rate'],
    ['8462-4', 'BP Diastolic'],
    ['9279-1', 'Respiratory'],
    ['2708-6', 'SPO2'],
    ['15074-8', 'Glucose'],
  ])('%s is %s', (code, type) => {
    expect(readingsOf(observation('1', code, 1, 'u'))).toMatchObject([{ type }]);
  });

  test('the table accepts every code that the catalog publishes', () => {
    const missing = METRICS.filter(({ loinc: code }) => code !== null && !METRIC_OF_LOINC.has(code));
    expect(missing).toEqual([]);
  });

  test('is recognised among other codings of the same concept', () => {
    const code = { coding: [{ system: 'urn:local', code: 'HR' }, ...loinc('8867-4', 'Heart rate').coding] };
    expect(readingsOf(observation('1', '0', 61, '/min', { code }))).toMatchObject([{ type: 'Heart Rate' }]);
  });

  test('is not recognised by a code of another system that looks like LOINC', () => {
    const code = { coding: [{ system: 'urn:local', code: '8867-4', display: 'Something' }] };
    expect(recordOf(observation('1', '0', 61, '/min', { code }))).toMatchObject({
      summary: 'Something: 61 any spelling',
    });
  });

  test.each([
    ['/min', { unit: 'bpm', code: '/min' }],
    ['/min', { unit: 'bpm', system: 'urn:oid:2.16.840.1.113883.6.8', code: '/min' }],
    ['bpm', { unit: 'bpm', system: 'http://snomed.info/sct', code: '258983007' }],
  ])('has the unit %s of %j', (unit, quantity) => {
    const pulse = observation('1', '8867-4', 0, '', { valueQuantity: { value: 72, ...quantity } });
    expect(readingsOf(pulse)).toMatchObject([{ unit }]);
  });

  test('keeps the interval of a period', () => {
    const effectivePeriod = { start: '2019-05-04T22:00:00Z', end: '2019-05-05T06:00:00Z' };
    const sleep = observation('1', '93832-4', 450, 'min', { effectiveDateTime: undefined, effectivePeriod });
    expect(readingsOf(sleep)).toMatchObject([
      { start: Date.parse('2019-05-04T22:00:00Z'), end: Date.parse('2019-05-05T06:00:00Z') },
    ]);
  });

  test("with a date without time counts for that day in the person's zone", () => {
    const dated = observation('1', '29463-7', 70, 'kg', { effectiveDateTime: '2019-05-04' });
    const start = Date.parse('2019-05-04T00:00:00-07:00');
    expect(map(dated, [], 'America/Los_Angeles')).toMatchObject([{ reading: { start, end: start } }]);
  });

  test.each<[string, object]>([
    ['entered in error', { status: 'entered-in-error' }],
    ['was cancelled', { status: 'cancelled' }],
    ['date is missing', { effectiveDateTime: undefined }],
    ['date is only a month', { effectiveDateTime: '2019-05' }],
    ['date is not a time such as 2024-05-04T08:00:00Z', { effectiveDateTime: 'last May' }],
    ['date is not in the calendar', { effectiveDateTime: '2019-02-30' }],
    ['date has no offset such as Z or +02:00', { effectiveDateTime: '2019-05-04T10:00:00' }],
    ['value is not a quantity', { valueQuantity: undefined, valueString: 'high' }],
    ['value is only a bound, such as <5', { valueQuantity: { value: 10, comparator: '<', code: 'kg' } }],
    ['value has no unit', { valueQuantity: { value: 10 } }],
    ['period has no start', { effectiveDateTime: undefined, effectivePeriod: { end: '2019-05-04' } }],
  ])('is refused: %s', (reason, change) => {
    expect(reasonOf(observation('1', '29463-7', 70, 'kg', change))).toBe(reason);
  });

  test('HRV is refused if the text says that it is RMSSD', () => {
    const code = { ...loinc('80404-7', 'HRV'), text: 'HRV (RMSSD)' };
    expect(reasonOf(observation('1', '80404-7', 40, 'ms', { code }))).toBe('HRV is RMSSD, not SDNN');
  });
});

describe('a blood-pressure panel', () => {
  const component = (code: string, value: number) => ({
    code: loinc(code, code),
    valueQuantity: { value, code: 'mm[Hg]' },
  });

  test.each(['85354-9', '55284-4'])('%s yields two readings with the same time and source', (code) => {
    const panel = observation('1', code, 0, '', {
      valueQuantity: undefined,
      component: [component('8462-4', 71), component('8480-6', 118)],
    });
    const at = {
      start: Date.parse('2019-05-04T08:00:00Z'),
      end: Date.parse('2019-05-04T08:00:00Z'),
      source: 'ehr',
      unit: 'mm[Hg]',
    };
    expect(readingsOf(panel)).toEqual([
      { type: 'BP Diastolic', value: 71, ...at },
      { type: 'Blood Pressure', value: 118, ...at },
    ]);
  });

  test('a component without a value does not affect the other', () => {
    const component2 = { code: loinc('8480-6', ''), dataAbsentReason: { text: 'not measured' } };
    const panel = observation('1', '85354-9', 0, '', { component: [component('8462-4', 71), component2] });
    expect(readingsOf(panel)).toMatchObject([
      { type: 'BP Diastolic', value: 71 },
      { kind: 'refused', reason: 'value is not a quantity' },
    ]);
  });

  test('without components only groups others, or is refused', () => {
    const panel = observation('1', '85354-9', 0, '');
    expect(reasonOf(panel)).toBe('panel has no component that is a reading');
    expect(map({ ...panel, hasMember: [{ reference: 'Observation/2' }] })).toEqual([
      { kind: 'left-out', reason: 'only groups other observations' },
    ]);
  });
});

describe('any other observation', () => {
  const laboratory = (change: object) =>
    observation('a1c', '4548-4', 0, '', {
      code: { text: 'Hemoglobin A1c' },
      valueQuantity: undefined,
      ...change,
    });

  test.each<[string, object]>([
    ['Hemoglobin A1c: 5.9 %', { valueQuantity: { value: 5.9, unit: '%', code: '%' } }],
    ['Hemoglobin A1c: 1.025 %', { valueQuantity: { value: 1.025, unit: '%' } }],
    ['Hemoglobin A1c: 251432.6 /uL', { valueQuantity: { value: 251432.57, unit: '/uL' } }],
    ['Hemoglobin A1c: 168.8 cm', { valueQuantity: { value: 168.80253764416227, unit: 'cm' } }],
    ['Hemoglobin A1c: <4 %', { valueQuantity: { value: 4, comparator: '<', unit: '%' } }],
    ['Hemoglobin A1c: 3', { valueQuantity: { value: 3, unit: '{score}', code: '{score}' } }],
    ['Hemoglobin A1c: Never smoker', { valueCodeableConcept: snomed('266919005', 'Never smoker') }],
    ['Hemoglobin A1c: yes', { valueBoolean: true }],
    ['Hemoglobin A1c: 7', { valueInteger: 7 }],
    ['Hemoglobin A1c: 1–3 mg', { valueRange: { low: { value: 1 }, high: { value: 3, unit: 'mg' } } }],
    ['Hemoglobin A1c: 1 / 64', { valueRatio: { numerator: { value: 1 }, denominator: { value: 64 } } }],
    ['Hemoglobin A1c: no value', { dataAbsentReason: { text: 'unknown' } }],
    [
      'Hemoglobin A1c: 5.9 %; interpretation: High',
      { valueQuantity: { value: 5.9, unit: '%' }, interpretation: [{ text: 'High' }] },
    ],
    [
      'Hemoglobin A1c: a 1 mg, b text',
      {
        component: [
          { code: { text: 'a' }, valueQuantity: { value: 1, unit: 'mg' } },
          { code: { text: 'b' }, valueString: '<p>text</p>\n' },
        ],
      },
    ],
  ])('becomes an EHR record: %s', (summary, change) => {
    expect(recordOf(laboratory(change))).toMatchObject({ resourceType: 'Observation', summary });
  });

  test('has the id of the resource as key and `ehr` as source', () => {
    expect(map(laboratory({ valueString: 'x' }))).toMatchObject([
      { record: { key: 'Observation/a1c', source: 'ehr', label: 'ehr-record Observation' } },
    ]);
  });

  test('is truncated at 500 characters without splitting a character', () => {
    const summaryOf = (valueString: string) =>
      (recordOf(laboratory({ valueString })) as { summary: string }).summary.replace('Hemoglobin A1c: ', '');
    expect(summaryOf('x'.repeat(484))).toBe('x'.repeat(484));
    expect(summaryOf('x'.repeat(485))).toBe(`${'x'.repeat(483)}…`);
    // The limit is between the two halves of the last character.
    expect(summaryOf(`${'x'.repeat(482)}😀😀`)).toBe(`${'x'.repeat(482)}…`);
  });
});

describe('a blood group', () => {
  const blood = (code: string, text: string) =>
    observation('b', code, 0, '', { valueQuantity: undefined, valueCodeableConcept: { text } });

  test.each([
    ['882-1', 'A Rh(D) positive', { group: 'A', rhesus: '+' }],
    ['882-1', 'O neg', { group: 'O', rhesus: '-' }],
    ['882-1', 'AB+', { group: 'AB', rhesus: '+' }],
    ['883-9', 'Group B', { group: 'B' }],
    ['883-9', 'Blood group A', { group: 'A' }],
    ['10331-7', 'Positive', { rhesus: '+' }],
  ])('%s "%s" updates the profile and remains an EHR record', (code, text, facts) => {
    expect(map(blood(code, text))).toMatchObject([{ kind: 'blood', facts }, { kind: 'record' }]);
  });

  test.each([
    ['883-9', 'not determined'],
    ['10331-7', 'indeterminate'],
  ])('%s "%s" does not update the profile', (code, text) => {
    expect(map(blood(code, text))).toMatchObject([{ kind: 'record' }]);
  });
});

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
        activity: [
          { detail: { code: { text: 'Diet' } } },
          { detail: { code: { text: 'Education' } } },
          { detail: { code: { text: 'Alcohol' }, doNotPerform: true } },
        ],
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

  test("with only a year is dated on its first day in the person's zone", () => {
    const code = { text: 'Appendectomy' };
    const procedure = { resourceType: 'Procedure', id: '1', code, performedDateTime: '1984' };
    const timestamp = timestampFromMs(Date.parse('1984-01-01T00:00:00+01:00'));
    expect(map(procedure, [], 'Europe/Berlin')).toMatchObject([
      { record: { record: { value: { timestamp } } } },
    ]);
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

  test.each(['Claim', 'Practitioner', 'Horoscope'])('%s is left out', (resourceType) => {
    const outcome = { kind: 'left-out', reason: 'is not imported by itself' };
    expect(map({ resourceType, id: '1' })).toEqual([outcome]);
  });

  test.each(['<script>', '', '__proto__'])('an unknown type (%s) is refused', (resourceType) => {
    expect(reasonOf({ resourceType, id: '1' })).toBe('resource type is unknown');
  });
});

test('a resource that says it is ours chooses neither its type nor its source', () => {
  const ours = { system: 'https://phds.example/fhir/R4/CodeSystem/metric', code: 'steps' };
  const code = { coding: [ours, ...loinc('8867-4', 'Heart rate').coding] };
  const device = { display: 'apple-watch' };
  expect(map(observation('rdg-1', '', 61, '/min', { code, device }))).toMatchObject([
    { reading: { type: 'Heart Rate', source: 'ehr' } },
  ]);
  const report = {
    id: `rpt-${'0123456789abcdef'.repeat(2)}`,
    issued: '2026-03-01T08:00:00Z',
    code: { text: 'Week' },
  };
  expect(map({ resourceType: 'DiagnosticReport', ...report })).toMatchObject([
    { record: { source: 'ehr', record: { case: 'ehrRecord' } } },
  ]);
});
