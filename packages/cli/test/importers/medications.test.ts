import { describe, expect, test } from '@jest/globals';
import { reasonOf, recordOf } from './mapping.ts';

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
    ['TID', '3 times a day', { frequency: 3, period: 1, periodUnit: 'd' }],
    ['QID', '4 times a day', { frequency: 4, period: 1, periodUnit: 'd' }],
    ['OTHER', '5 times a day', { frequency: 5, period: 1, periodUnit: 'd' }],
    ['QOD', 'every 2 days', { frequency: 1, period: 2, periodUnit: 'd' }],
    ['WK', 'once a week', { frequency: 1, period: 1, periodUnit: 'wk' }],
    ['WK', 'every 7 days', { frequency: 1, period: 7, periodUnit: 'd' }],
    ['MO', 'once a month', { frequency: 1, period: 1, periodUnit: 'mo' }],
    ['Q4H', 'every 4 hours', { frequency: 1, period: 4, periodUnit: 'h' }],
    ['Q6H', 'every 6 hours', { frequency: 1, period: 6, periodUnit: 'h' }],
    ['Q8H', 'every 8 hours', { frequency: 1, period: 8, periodUnit: 'h' }],
    ['BID', 'every 12 hours', { frequency: 1, period: 12, periodUnit: 'h' }],
    ['QD', 'every 24 hours', { frequency: 1, period: 24, periodUnit: 'h' }],
    ['Q1H', 'once an hour', { frequency: 1, period: 1, periodUnit: 'h' }],
    ['OTHER', 'every 3 days', { frequency: 1, period: 3, periodUnit: 'd' }],
    ['OTHER', '2 times a week', { frequency: 2, period: 1, periodUnit: 'wk' }],
    ['OTHER', 'once a day', { frequency: 1, frequencyMax: 2, period: 1, periodUnit: 'd' }],
    ['BED', 'once a day', { when: ['HS'] }],
    ['AM', 'once a day', { when: ['MORN'] }],
    ['BID', '2 times a day', { when: ['ACM', 'ACV'] }],
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
    ['states not to take the medication', { doNotPerform: true }],
  ])('is refused: %s', (reason, change) => {
    expect(reasonOf(request(change))).toBe(reason);
  });

  test.each(['active', 'stopped', 'completed', 'on-hold'])('that is %s is kept', (status) => {
    expect(recordOf(request({ status }))).toMatchObject({ name: 'Metformin 500 MG' });
  });
});
