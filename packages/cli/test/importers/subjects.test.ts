import { expect, test } from '@jest/globals';
import { observation } from '@phds/test-kit/bundle-files';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { fhirImporter } from '../../src/importers/fhir/importer.ts';
import { collect } from './collected-items.ts';

type Entry = { readonly fullUrl?: string; readonly resource: object };

/** Imports a bundle of these entries for a patient. */
async function importEntries(entry: readonly Entry[], patient?: string) {
  using files = openFilesOfTest();
  const path = files.write('bundle.json', JSON.stringify({ resourceType: 'Bundle', entry }));
  return await collect(fhirImporter, [path], patient === undefined ? {} : { patient });
}

const patientOf = (id: string, number = id): Entry => ({
  fullUrl: `https://x.test/fhir/Patient/${id}`,
  resource: { resourceType: 'Patient', id, identifier: [{ system: 'urn:mrn', value: number }] },
});
const pulse = (more: object): Entry => ({ resource: observation('o', '8867-4', 61, '/min', more) });
const to = (reference: string, focus: object = {}) => ({ subject: { reference }, ...focus });
const numbered = (value: string, more: object = {}) => ({
  subject: { identifier: { system: 'urn:mrn', value }, ...more },
});
const inside = (contained: object) => ({ contained: [{ id: 'p', ...contained }], ...to('#p') });

const doctor = { fullUrl: 'urn:uuid:doctor', resource: { resourceType: 'Practitioner', id: 'doctor' } };
const alone = [patientOf('a'), doctor];
const both = [patientOf('a'), patientOf('b')];

/** What becomes of a resource in the import of a: `stored`, or the reason why not. */
async function fateOf(resource: object, people: readonly Entry[]): Promise<string> {
  const { readings, records, refused } = await importEntries([...people, { resource }], 'a');
  return refused[0]?.replace(/^\w+: | \(entry.*/g, '') ?? `stored ${readings.length + records.length}`;
}

const NAMELESS = 'names no patient, and the input is about several';
const FOCUS = 'focus is not the patient but a relative, a donor, a device or the like';

test.each<[string, readonly Entry[], object]>([
  [NAMELESS, both, {}],
  [NAMELESS, both, { subject: { display: 'Ann' } }],
  ['subject cannot be resolved', both, to('Patient?identifier=urn:other|9')],
  ['subject cannot be resolved', both, to('Patient?name=Ann/Patient/a')],
  ['subject cannot be resolved', both, inside({ resourceType: 'Patient' })],
  ['subject cannot be resolved', [patientOf('a', 'one'), patientOf('b', 'one')], numbered('one')],
  ['subject cannot be resolved', alone, numbered('b')],
  ['about another patient', both, to('Patient?identifier=urn%3Amrn|b')],
  ['about another patient', both, numbered('b')],
  ['about another patient', both, { subject: [{ reference: 'Patient/b' }] }],
  ['about another patient', both, { ...to('Patient/a'), patient: { reference: 'Patient/b' } }],
  ['about another patient', both, to('Patient/b_1')],
  ['about another patient', both, to('https://y.test/fhir/Patient/a')],
  ['stored 1', both, to('Patient/a')],
  ['stored 1', both, to('https://x.test/fhir/Patient/a/_history/2')],
  ['stored 1', both, to('Patient?identifier=urn:mrn|a')],
  ['stored 1', both, numbered('a', { type: 'Patient' })],
  ['stored 1', both, inside({ ...patientOf('a').resource, id: 'p' })],
  ['subject is not a patient', alone, to('Practitioner/1')],
  ['subject is not a patient', alone, to('Group/1')],
  ['subject is not a patient', alone, to('urn:uuid:doctor')],
  ['subject is not a patient', alone, numbered('1', { type: 'Practitioner' })],
  ['subject is not a patient', alone, inside({ resourceType: 'Device' })],
  [FOCUS, alone, to('Patient/a', { focus: [{ reference: 'RelatedPerson/1' }] })],
  [FOCUS, alone, to('Patient/a', { focus: [{ display: 'fetus' }] })],
  ['stored 1', alone, to('Patient/a', { focus: [{ reference: 'Patient/a' }] })],
  ['stored 1', alone, {}],
  ['stored 1', alone, { subject: { display: 'Ann' } }],
])('an observation among the data of one or two patients: %s (%#)', async (fate, people, more) => {
  expect(await fateOf(pulse(more).resource, people)).toBe(fate);
});

test('an appointment needs the chosen one among its participants', async () => {
  const start = '2024-05-04T08:00:00Z';
  const appointment = (...actors: string[]) => {
    const participant = actors.map((reference) => ({ actor: { reference } }));
    return fateOf({ resourceType: 'Appointment', start, participant }, both);
  };
  expect(await appointment('Practitioner/1', 'Patient/b', 'Patient/a')).toBe('stored 1');
  expect(await appointment('Practitioner/1', 'Patient/b')).toBe('about another patient');
  expect(await appointment('Practitioner/1')).toBe(NAMELESS);
});

test('people who are named only as subjects are distinguished', async () => {
  const others = [...alone, pulse(to('Patient/b')), pulse({})];
  expect((await importEntries(others)).readings).toEqual([]);
  const two = [pulse(numbered('1')), pulse(numbered('2'))];
  await expect(importEntries(two)).rejects.toThrow('is about 2 patients');
  expect((await importEntries(two, 'Patient?identifier=urn:mrn|2')).readings).toHaveLength(1);
  const named = (family: string) => pulse(inside({ resourceType: 'Patient', name: [{ family }] }));
  await expect(importEntries([named('A'), named('B')])).rejects.toThrow('is about 2 patients');
});

test('an input in which several patients have the same id, or none, is refused', async () => {
  const same = [patientOf('a'), { ...patientOf('a'), fullUrl: 'https://y.test/fhir/Patient/a' }];
  await expect(importEntries(same, 'a')).rejects.toThrow('several patients with the id Patient/a');
  const nameless = { resource: { resourceType: 'Patient' } };
  await expect(importEntries([nameless, nameless])).rejects.toThrow('several patients without an id');
});
