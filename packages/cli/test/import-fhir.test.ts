import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type BundleFiles, loinc, observation, openBundleFiles } from '@phds/test-kit/bundle-files';
import type { ImportArguments } from '../src/commands/import.ts';
import { fhirImporter } from '../src/importers/fhir/importer.ts';
import { type FakeIngestion, startFakeIngestion } from './fake-ingestion.ts';
import { runImport, runReported } from './import-runs.ts';

let service: FakeIngestion;
let files: BundleFiles;

beforeEach(async () => {
  service = await startFakeIngestion();
  files = openBundleFiles();
});

afterEach(async () => {
  files[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

type Change = Partial<ImportArguments>;

const run = (file: string, change: Change = {}) =>
  runImport(service.env, { importer: fhirImporter, paths: [file], ...change });

const runJson = (file: string, change: Change = {}) =>
  runReported(service.env, { importer: fhirImporter, paths: [file], ...change });

const subject = { reference: 'urn:uuid:p1' };
const patient = {
  resourceType: 'Patient',
  id: 'p1',
  name: [{ text: 'Ada Lovelace' }],
  gender: 'female',
  birthDate: '1815-12-10',
};
const person = [
  // Placed before the condition that it refers to, which transactions allow.
  {
    resourceType: 'MedicationRequest',
    id: 'm1',
    status: 'active',
    subject,
    medicationCodeableConcept: { text: 'Metformin' },
    reasonReference: [{ reference: 'urn:uuid:c1' }],
  },
  patient,
  { resourceType: 'Condition', id: 'c1', subject, code: { text: 'Diabetes' }, onsetDateTime: '2019-05' },
  observation('o1', '29463-7', 60.5, 'kg', { subject }),
  observation('o2', '85354-9', 0, '', {
    subject,
    valueQuantity: undefined,
    component: [
      { code: loinc('8480-6', ''), valueQuantity: { value: 120, code: 'mm[Hg]' } },
      { code: loinc('8462-4', ''), valueQuantity: { value: 80, code: 'mm[Hg]' } },
    ],
  }),
  observation('o3', '882-1', 0, '', { subject, valueQuantity: undefined, valueString: 'A Rh positive' }),
  observation('o4', '8867-4', 60, '/min', { subject, effectiveDateTime: '2019' }),
  { resourceType: 'Claim', id: 'x1', patient: subject },
];

describe('importing a bundle', () => {
  test('stores readings, records and profile, and counts them by type', async () => {
    const { code, report } = await runJson(files.bundle(person));
    const one = { inserted: 1, updated: 0, unchanged: 0 };
    expect(code).toBe(0);
    expect(report).toMatchObject({
      ok: true,
      error: null,
      stored: { inserted: 6, updated: 0, unchanged: 0 },
      readings: { 'BP Diastolic': one, 'Blood Pressure': one, Weight: one },
      records: { condition: one, 'ehr-record Observation': one, medication: one },
      profile: ['name', 'gender', 'dateOfBirth', 'bloodType'],
      refusedCount: 1,
      refused: [
        {
          type: 'Observation',
          reason: 'date is too coarse for a reading',
          count: 1,
          examples: ['entry[6] Observation/o4'],
        },
      ],
      leftOut: [{ reason: 'financial', types: { Claim: 1 } }],
    });
    expect(service.profiles).toMatchObject([
      { userId: 'ada', name: 'Ada Lovelace', gender: 'female', dateOfBirth: '1815-12-10', bloodType: 'A+' },
    ]);
  });

  test('resolves references, also to later resources in the file', async () => {
    await run(files.bundle(person));
    const medications = [...service.records.values()].flatMap(({ record }) =>
      record.case === 'medication' ? record.value : [],
    );
    expect(medications).toMatchObject([{ name: 'Metformin', condition: 'Diabetes' }]);
  });

  test('a second import changes nothing', async () => {
    const file = files.bundle(person);
    await run(file);
    const { code, report } = await runJson(file);
    expect(code).toBe(0);
    expect(report.stored).toEqual({ inserted: 0, updated: 0, unchanged: 6 });
  });

  test('continues while the service restarts', async () => {
    service.failures = 2;
    expect((await runJson(files.bundle(person))).report.stored.inserted).toBe(6);
  });

  test('prints tables for people', async () => {
    const { output, errors } = await run(files.bundle(person));
    expect(output.replace(/\d+(\.\d+)? s\n/, '0 s\n').split('\n')).toEqual([
      '1.json for ada, 0 s',
      '',
      'Readings                          new    updated  unchanged',
      '  Blood Pressure                    1          0          0',
      '  BP Diastolic                      1          0          0',
      '  Weight                            1          0          0',
      '',
      'Records                           new    updated  unchanged',
      '  condition                         1          0          0',
      '  ehr-record Observation            1          0          0',
      '  medication                        1          0          0',
      '',
      'Profile: name, gender, dateOfBirth, bloodType',
      '',
      'Left out on purpose',
      '  financial: Claim 1',
      '',
      'Refused',
      '  1 × Observation: date is too coarse for a reading (entry[6] Observation/o4)',
      '',
      '6 new, 0 updated, 0 unchanged, 1 left out, 1 refused.',
      '',
    ]);
    expect(errors).toBe('');
  });

  test('holds back everything of a truncated file and names the byte', async () => {
    const text = JSON.stringify({ resourceType: 'Bundle', entry: person.map((resource) => ({ resource })) });
    const { code, output, errors } = await run(files.file(text.slice(0, -20)));
    expect(code).toBe(1);
    expect(errors).toBe(
      `The file ends in the middle of the bundle: it is cut off (at byte ${Buffer.byteLength(text) - 20}).\n`,
    );
    expect(output).toBe('');
    expect(service.batchSizes).toEqual([]);
  });

  test('reports the error in the JSON report too', async () => {
    const { code, report } = await runJson(files.file('{"resourceType":"Patient"}'));
    expect(code).toBe(1);
    expect(report).toMatchObject({ ok: false, error: 'The file is not a FHIR bundle but a Patient.' });
  });

  test('ignores a blood type on which two observations disagree', async () => {
    const blood = (id: string, valueString: string) =>
      observation(id, '882-1', 0, '', { subject, valueQuantity: undefined, valueString });
    const { report } = await runJson(files.bundle([patient, blood('b1', 'A+'), blood('b2', 'B+')]));
    expect(report.profile).toEqual(['name', 'gender', 'dateOfBirth']);
  });
});

describe('a bundle with several patients', () => {
  const other = { resourceType: 'Patient', id: 'p2', name: [{ text: 'Grace Hopper' }] };
  const two = [
    ...person,
    other,
    observation('o9', '29463-7', 70, 'kg', { subject: { reference: 'Patient/p2' } }),
  ];

  test('is not imported, because the data of two people must not be mixed', async () => {
    const { code, errors } = await run(files.bundle(two));
    expect(code).toBe(1);
    expect(errors).toBe(
      'The bundle is about 2 patients (Patient/p1, Patient/p2): choose one with --patient.\n',
    );
    expect(service.batchSizes).toEqual([]);
  });

  test.each(['p2', 'Patient/p2', 'urn:uuid:p2'])("imports the chosen patient's data (%s)", async (chosen) => {
    const { code, report } = await runJson(files.bundle(two), { patient: chosen });
    expect(code).toBe(0);
    expect(report.readings).toEqual({ Weight: { inserted: 1, updated: 0, unchanged: 0 } });
    expect(report.refused).toMatchObject([
      { type: 'Observation', reason: 'about another patient', count: 4 },
      { type: 'Condition', reason: 'about another patient', count: 1 },
      { type: 'MedicationRequest', reason: 'about another patient', count: 1 },
    ]);
    expect(service.profiles).toMatchObject([{ name: 'Grace Hopper' }]);
  });

  test('is recognised by its references when it has no Patient resources', async () => {
    const weight = (id: string) =>
      observation(`o-${id}`, '29463-7', 70, 'kg', { subject: { reference: `Patient/${id}` } });
    expect((await run(files.bundle([weight('1'), weight('2')]))).code).toBe(1);
    expect((await run(files.bundle([weight('1')]))).code).toBe(0);
  });

  test('reports when it does not contain the chosen patient', async () => {
    const { code, errors } = await run(files.bundle(two), { patient: 'p3' });
    expect(code).toBe(1);
    expect(errors).toBe('The bundle has no patient p3.\n');
  });
});
