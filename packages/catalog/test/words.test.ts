import { describe, expect, test } from '@jest/globals';
import { formatGrantedScopes, parseAskedScopes, SMART_SCOPES, wantsPatient } from '../src/fhir/words.ts';
import { isScope, SCOPE_NAMES, type Scope } from '../src/scopes.ts';

const base = 'https://phds.test/fhir/R4';
const all = { base, registered: SCOPE_NAMES };
const OURS = `patient/Observation.rs?category=${base}/CodeSystem/category|`;
const CONDITIONS = 'http://terminology.hl7.org/CodeSystem/condition-category';
const HL7 = 'patient/Observation.rs?category=http://terminology.hl7.org/CodeSystem/observation-category|';

/** Names without their prefixes, to keep tables short. */
const short = (scopes: readonly string[]) =>
  scopes.map((name) => name.replace('read:', '').replace('health-data:', '')).join(' ');
const scopesOf = (text: string, context = all) => short(parseAskedScopes(text, context).scopes);

const READINGS =
  'heart blood-pressure oxygen respiratory glucose temperature activity sleep body-composition mindfulness';

describe('the words of SMART', () => {
  test.each([
    ['patient/Observation.rs', `${READINGS} symptoms weight mood`],
    [`${HL7}vital-signs`, 'heart blood-pressure oxygen respiratory temperature body-composition'],
    [`${HL7}laboratory`, 'glucose'],
    [`${HL7}activity`, 'activity sleep mindfulness'],
    [`${HL7}survey`, 'symptoms mood'],
    [`${OURS}heart`, 'heart'],
    [`${OURS}weight`, 'weight'],
    ['patient/Patient.rs', 'profile'],
    [`patient/Condition.rs?category=${CONDITIONS}|problem-list-item`, 'conditions'],
    ['patient/MedicationRequest.read', 'medications'],
    ['patient/MedicationAdministration.rs', 'medications'],
    [
      'patient/*.rs',
      `${READINGS} symptoms medications conditions allergies appointments weight mood reports profile ehr`,
    ],
  ])('%s is for %s', (word, scopes) => {
    expect(scopesOf(word)).toBe(scopes);
    expect(parseAskedScopes(word, all).words).toEqual([word]);
  });

  test('are taken with names, in their order, once each, and in one form for reading and searching', () => {
    const text =
      'patient/Patient.r read:trends  patient/Patient.cruds launch/patient patient/Patient.* read:trends';
    const { scopes, words } = parseAskedScopes(text, all);
    expect(short(scopes)).toBe('trends profile');
    expect(words).toEqual(['patient/Patient.rs', 'read:trends', 'launch/patient', 'patient/Patient.read']);
  });

  test('for what is not offered are left out', () => {
    const text = `openid fhirUser launch/encounter online_access user/Patient.rs system/*.read patient/Patient.write patient/Patient.cud
      patient/Immunization.rs ${OURS}profile ${HL7}imaging patient/Condition.rs?category=${CONDITIONS}|encounter-diagnosis patient/Observation.rs?code=http://loinc.org|8867-4 patient/*.rs?status=final`;
    const asked = parseAskedScopes(text.replaceAll(/\s+/g, ' '), all);
    expect(asked).toEqual({ scopes: [], words: [], unknown: [], unregistered: [] });
  });

  test.each([
    'launch',
    'profile',
    'patient/Patient',
    'patient/Patient.',
    'patient/Patient.sr',
    'patient/patient.rs',
    'patient/Patient.rs?',
    'patient/Patient.rs\n',
    'PATIENT/Patient.rs',
    'read:*',
  ])('%j is unknown', (word) => {
    expect(parseAskedScopes(`${word} read:mood`, all).unknown).toEqual([word]);
  });

  test('mean only what the app has registered; names are left to the caller', () => {
    const context = { base, registered: ['read:mood', 'read:trends'] as const };
    expect(scopesOf('patient/*.rs read:ehr', context)).toBe('mood ehr');
    const { scopes, unregistered } = parseAskedScopes('patient/Patient.rs patient/Observation.rs', context);
    expect([scopes, unregistered]).toEqual([['read:mood'], ['patient/Patient.rs']]);
  });

  test.each([
    ['patient/Patient.read', true],
    ['launch/patient', true],
    ['offline_access read:mood', false],
  ])('%s asks for a patient: %s', (text, wanted) => {
    expect(wantsPatient(parseAskedScopes(text, all).words)).toBe(wanted);
  });
});

describe('the scope of an answer', () => {
  const format = (words: string, granted: string, registered = SCOPE_NAMES) =>
    formatGrantedScopes(words.split(' '), granted.split(' ').filter(isScope), { base, registered });

  test.each([
    ['read:mood read:trends', 'read:trends', 'read:trends'],
    ['offline_access read:mood', 'read:mood read:ehr', 'offline_access read:mood read:ehr'],
    ['launch/patient patient/Observation.read', 'read:mood', `launch/patient ${OURS}mood`],
    [`${HL7}survey`, 'read:mood read:symptoms', `${HL7}survey`],
    [
      'patient/Patient.rs',
      'read:profile read:trends read:mood',
      `patient/Patient.rs read:trends ${OURS}mood`,
    ],
    ['patient/*.read', 'read:conditions', 'patient/Condition.read'],
    ['patient/*.rs', 'read:medications', 'patient/MedicationRequest.rs patient/MedicationAdministration.rs'],
    ['patient/MedicationRequest.rs', 'read:medications', 'patient/MedicationRequest.rs'],
    ['patient/*.rs patient/Observation.rs', 'read:mood', `${OURS}mood`],
  ])('to %s with %s is %s', (words, granted, scope) => {
    expect(format(words, granted)).toBe(scope);
  });

  test('has the wildcard if all that the app registered works', () => {
    const registered: readonly Scope[] = ['read:mood', 'read:trends', 'read:ehr'];
    expect(format('patient/*.rs', 'read:mood read:ehr', registered)).toBe('patient/*.rs');
    expect(format('patient/*.rs', 'read:ehr', registered)).toBe('patient/DocumentReference.rs');
    expect(format('patient/*.rs', 'read:trends', ['read:trends'])).toBe('read:trends');
  });

  test('means exactly what works, whatever was asked for and granted', () => {
    let state = 1;
    const pick = <T>(from: readonly T[], one: number): T[] =>
      from.filter(() => {
        state = (state * 48_271) % 2_147_483_647;
        return state % one === 0;
      });
    const vocabulary = [
      ...SMART_SCOPES,
      ...SCOPE_NAMES,
      `${OURS}heart`,
      'patient/*.read',
      'patient/Condition.read',
    ];
    for (let round = 0; round < 2_000; round += 1) {
      const registered = pick(SCOPE_NAMES, (round % 3) + 1);
      const context = { base, registered };
      const { words } = parseAskedScopes(pick(vocabulary, 6).join(' '), context);
      const working = pick(registered, (round % 2) + 1);
      const scope = formatGrantedScopes(words, working, context);
      expect(parseAskedScopes(scope, context)).toMatchObject({
        scopes: working,
        unknown: [],
        unregistered: [],
      });
      // The words of an answer ask for the same answer.
      expect(formatGrantedScopes(scope.split(' '), working, context)).toBe(scope);
    }
  });
});
