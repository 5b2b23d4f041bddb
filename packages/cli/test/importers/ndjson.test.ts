import { describe, expect, test } from '@jest/globals';
import { loinc, observation } from '@phds/test-kit/bundle-files';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { fhirImporter } from '../../src/importers/fhir/importer.ts';
import { type CollectOptions, collect, countOf } from './collected-items.ts';

type Files = Readonly<Record<string, readonly (object | string)[]>>;

function toNdjson(lines: readonly (object | string)[]): string {
  return lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
}

/** Writes the files and imports them by name, or the whole directory. */
async function importFiles(content: Files, options: CollectOptions & { readonly whole?: boolean } = {}) {
  using files = openFilesOfTest();
  const paths = Object.entries(content).map(([name, lines]) => files.write(name, toNdjson(lines)));
  return await collect(fhirImporter, options.whole === true ? [files.directory] : paths, options);
}

const subject = { reference: 'Patient/p1' };
const ada = { resourceType: 'Patient', id: 'p1', name: [{ text: 'Ada Lovelace' }], gender: 'female' };
const grace = { resourceType: 'Patient', id: 'p2', name: [{ text: 'Grace Hopper' }], gender: 'female' };
const condition = { resourceType: 'Condition', id: 'c1', subject, code: { text: 'Diabetes' } };
const request = {
  resourceType: 'MedicationRequest',
  id: 'm1',
  status: 'active',
  subject,
  medicationReference: { reference: 'Medication/x1' },
  reasonReference: [{ reference: 'Condition/c1' }],
};
const medicine = { resourceType: 'Medication', id: 'x1', code: { text: 'Metformin' } };
const weight = observation('o1', '29463-7', 60.5, 'kg', { subject });
const blood = observation('o2', '882-1', 0, '', {
  subject,
  valueQuantity: undefined,
  valueString: 'A Rh positive',
});

describe('files of a bulk data export', () => {
  const files: Files = {
    'Condition.ndjson': [condition],
    'MedicationRequest.ndjson': [request],
    'Medication.ndjson': [medicine],
    'Observation.1.ndjson': [weight],
    'Observation.2.ndjson': [blood],
    'Patient.ndjson': [ada],
  };

  test.each([false, true])('yield readings, records and profile (whole directory: %s)', async (whole) => {
    const { readings, records, profile, leftOut, refused } = await importFiles(files, { whole });
    expect(readings).toMatchObject([{ type: 'Weight', value: 60.5, unit: 'kg', source: 'ehr' }]);
    expect(records.map(({ label, key }) => `${label} ${key}`)).toEqual([
      'condition Condition/c1',
      'medication MedicationRequest/m1',
      'ehr-record Observation Observation/o2',
    ]);
    expect(profile).toEqual({ name: 'Ada Lovelace', gender: 'female', bloodType: 'A+' });
    expect(leftOut).toEqual(['Medication: only serves other resources']);
    expect(refused).toEqual([]);
  });

  test('resolve references to other files, also to later lines', async () => {
    const { records } = await importFiles({ 'a.ndjson': [request], 'b.ndjson': [medicine, condition] });
    expect(records[0]?.record.value).toMatchObject({ name: 'Metformin', condition: 'Diabetes' });
  });

  test('resume after a position with the same lines and blood type', async () => {
    const whole = await importFiles(files, { whole: true });
    for (const [index, from] of whole.positions.entries()) {
      const rest = await importFiles(files, { whole: true, from });
      expect(rest.positions).toEqual(whole.positions.slice(index + 1));
      expect(countOf(rest)).toBeLessThan(countOf(whole));
      expect(rest.profile).toEqual(whole.profile);
    }
  });

  test('may include an empty file, empty lines, CRLF and a byte order mark', async () => {
    const { readings, leftOut, refused } = await importFiles({
      'a.ndjson': [],
      'b.ndjson': [`\ufeff${JSON.stringify(weight)}\r`, '', '{"resourceType":"Group"}\r'],
    });
    expect(readings).toHaveLength(1);
    expect(leftOut).toEqual(['line: empty', 'Group: only serves other resources']);
    expect(refused).toEqual([]);
  });
});

describe('an export with several patients', () => {
  const files: Files = {
    'Patient.ndjson': [ada, grace],
    'Observation.ndjson': [
      weight,
      observation('o9', '29463-7', 70, 'kg', { subject: { reference: 'Patient/p2' } }),
    ],
  };

  test('is not imported, because the data of two people must not be mixed', async () => {
    await expect(importFiles(files)).rejects.toThrow(
      'The export is about 2 patients (Patient/p1, Patient/p2): choose one with --patient.',
    );
  });

  test.each(['p2', 'Patient/p2'])("yields the chosen patient's data (%s)", async (patient) => {
    const { readings, refused, leftOut, profile } = await importFiles(files, { patient });
    expect(readings).toMatchObject([{ value: 70 }]);
    expect(profile.name).toBe('Grace Hopper');
    expect(leftOut).toEqual(['Patient: about another patient']);
    expect(refused).toEqual(['Observation: about another patient (Observation.ndjson line 1)']);
  });

  test('reports when it does not contain the chosen patient', async () => {
    await expect(importFiles(files, { patient: 'p3' })).rejects.toThrow('The export has no patient p3.');
  });
});

describe('bad lines do not affect others', () => {
  const deep = (depth: number) => `{"resourceType":"Basic","x":${'['.repeat(depth)}${']'.repeat(depth)}}`;

  test.each([
    ['cut off', JSON.stringify(weight).slice(0, -5), 'line is not valid JSON'],
    ['no JSON', 'resourceType: Patient', 'line is not valid JSON'],
    [
      'a number that JSON does not know',
      '{"resourceType":"Observation","value":NaN}',
      'line is not valid JSON',
    ],
    ['no object', '[1,2,3]', 'line is not a FHIR resource'],
    ['an object that is no resource', '{"a":1}', 'line is not a FHIR resource'],
    ['two resources', `${JSON.stringify(weight)}${JSON.stringify(weight)}`, 'line is not valid JSON'],
    ['deep JSON', deep(100), 'line nests deeper than 100 levels'],
    ['JSON as deep as the line is long', `${'['.repeat(1_000_000)}`, 'line nests deeper than 100 levels'],
    ['a NUL byte', '{"resourceType":"Basic\0"}', 'line holds a NUL byte'],
  ])('%s', async (_, line, reason) => {
    const { readings, refused } = await importFiles({ 'a.ndjson': [line, weight] });
    expect(refused).toEqual([`line: ${reason} (a.ndjson line 1)`]);
    expect(readings).toHaveLength(1);
  });

  test.each([deep(99), JSON.stringify({ resourceType: 'Basic', x: `["${'['.repeat(200)}\\` })])(
    'harmless deep-looking text is accepted',
    async (line) => {
      const { refused, leftOut } = await importFiles({ 'a.ndjson': [line, weight] });
      expect(refused).toEqual([]);
      expect(leftOut).toEqual(['Basic: administrative']);
    },
  );

  test('a line over 8 MB is skipped', async () => {
    const large = JSON.stringify({ ...weight, note: [{ text: 'x'.repeat(8 * 1024 * 1024) }] });
    const { readings, refused } = await importFiles({ 'a.ndjson': [large, weight] });
    expect(refused).toEqual(['line: line is longer than 8 MB (a.ndjson line 1)']);
    expect(readings).toHaveLength(1);
  });

  test('names of Object members are ordinary names', async () => {
    const { refused, leftOut } = await importFiles({
      'a.ndjson': [weight, '{"resourceType":"__proto__"}', '{"resourceType":"Basic","__proto__":{"id":"x"}}'],
    });
    expect(refused).toEqual(['unknown: resource type is unknown (a.ndjson line 2)']);
    expect(leftOut).toEqual(['Basic: administrative']);
  });

  test('observations are mapped as in bundles', async () => {
    const { refused } = await importFiles({
      'a.ndjson': [
        observation('o', '8867-4', 60, '/min', {
          subject,
          effectiveDateTime: '2019',
          code: loinc('8867-4', ''),
        }),
      ],
    });
    expect(refused).toEqual(['Observation: date is too coarse for a reading (a.ndjson line 1)']);
  });
});

describe('files that are not an export', () => {
  test.each<[string, Files, string]>([
    ['no line is a resource', { 'a.ndjson': ['<html>', 'x'] }, 'No line of a.ndjson is a FHIR resource.'],
    [
      'several bundles',
      { 'a.json': [], 'b.json': [] },
      'Several files can be imported at once only when all of them are .ndjson.',
    ],
    ['a bundle among them', { 'a.json': [], 'b.ndjson': [] }, 'only when all of them are .ndjson'],
  ])('%s', async (_, files, message) => {
    await expect(importFiles(files)).rejects.toThrow(message);
  });

  test('more than 8,000 files are refused', async () => {
    using files = openFilesOfTest();
    const path = files.write('Patient.ndjson', toNdjson([ada]));
    const paths = (count: number) => Array.from({ length: count }, () => path);
    await expect(collect(fhirImporter, paths(8_001))).rejects.toThrow(
      'More than 8,000 files cannot be imported at once.',
    );
  });

  test('a directory without export files, and a missing file, are reported', async () => {
    using files = openFilesOfTest();
    await expect(collect(fhirImporter, [files.directory])).rejects.toThrow('has no .ndjson files');
    await expect(collect(fhirImporter, [`${files.directory}/a.ndjson`])).rejects.toThrow(
      'There is no file a.ndjson.',
    );
  });
});
