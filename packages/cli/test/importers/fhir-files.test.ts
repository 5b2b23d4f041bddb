import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { observation, toBundle } from '@phds/test-kit/bundle-files';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { type BundleEntry, readBundle } from '../../src/importers/fhir/bundle.ts';
import { fhirImporter } from '../../src/importers/fhir/importer.ts';
import { UnusableFile } from '../../src/importers/ingest/importer.ts';
import { type CollectOptions, collect, expectResumable, sourceOf } from './collected-items.ts';

/** Reads a bundle. Returns all entries and the final error, if any. */
async function readText(
  content: string | Uint8Array,
  { chunkBytes, maxEntryBytes }: { readonly chunkBytes?: number; readonly maxEntryBytes?: number } = {},
) {
  const entries: BundleEntry[] = [];
  try {
    const source = sourceOf(content, 'bundle.json', chunkBytes);
    for await (const entry of readBundle(source, maxEntryBytes)) entries.push(entry);
    return { entries, error: null };
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    return { entries, error };
  }
}

const resources = [
  {
    resourceType: 'Patient',
    id: '1',
    name: [{ text: 'Zoë "Ω" 😀\\\u2028' }],
    empty: [{}, [], null, true, false],
  },
  { resourceType: 'Observation', id: '2', valueQuantity: { value: -1.5e-3, big: 12345678901 } },
];
const text = JSON.stringify(toBundle(resources));

describe('reading a bundle in chunks', () => {
  test.each([1, 2, 3, 7, 64, 100_000])('yields the same in chunks of %i bytes', async (chunkBytes) => {
    const { entries, error } = await readText(text, { chunkBytes });
    expect(error).toBeNull();
    expect(entries.map(({ resource }) => resource)).toEqual(resources);
    expect(entries.map(({ index, fullUrl }) => [index, fullUrl])).toEqual([
      [0, 'urn:uuid:1'],
      [1, 'urn:uuid:2'],
    ]);
  });

  test('finds the entries whatever surrounds them', async () => {
    const { entries, error } = await readText(
      `\ufeff{"meta":{"entry":[{"resource":{}}]},"entry":[{"resource":{"id":"1"},"link":[[[1]]]}],"total":1,"resourceType":"Bundle"} `,
    );
    expect(error).toBeNull();
    expect(entries.map(({ resource }) => resource)).toEqual([{ id: '1' }]);
  });

  test('accepts a bundle without entries', async () => {
    expect(await readText('{"resourceType":"Bundle","type":"searchset"}')).toEqual({
      entries: [],
      error: null,
    });
  });

  test('refuses an entry over the limit and reads the next one', async () => {
    const large = { resourceType: 'Binary', data: ['x'.repeat(3_000), { deep: 'y'.repeat(3_000) }] };
    const all = JSON.stringify(toBundle([resources[0] ?? {}, large, resources[1] ?? {}]));
    const { entries } = await readText(all, { maxEntryBytes: 2_000, chunkBytes: 512 });
    expect(entries.map(({ index, problem }) => [index, problem])).toEqual([
      [0, ''],
      [1, 'entry is too large'],
      [2, ''],
    ]);
    expect(entries[2]?.resource).toEqual(resources[1]);
  });

  test('holds a number of any length at about the size that it has in the file', async () => {
    let peak = 0;
    const begin = process.memoryUsage().heapUsed;
    const source = sourceOf(`{"resourceType":"Bundle","total":1${'0'.repeat(16_000_000)}}`, 'bundle.json');
    const watched = {
      ...source,
      async *read() {
        for await (const chunk of source.read()) {
          peak = Math.max(peak, process.memoryUsage().heapUsed - begin);
          yield chunk;
        }
      },
    };
    for await (const { index } of readBundle(watched)) throw new Error(`entry ${index}`);
    // An array with an element for each digit takes over 300 MB.
    expect(peak / 1_000_000).toBeLessThan(150);
  });

  test('refuses only the entries that are not objects or have no resource', async () => {
    const { entries } = await readText(
      '{"resourceType":"Bundle","entry":[1,null,[],{},{"fullUrl":"u","response":{}},{"resource":{"id":"9"}}]}',
    );
    expect(entries.map(({ problem }) => problem)).toEqual([
      'entry is not an object',
      'entry is not an object',
      'entry is not an object',
      'entry has no resource',
      'entry has no resource',
      '',
    ]);
  });
});

describe('an unusable file', () => {
  test('that is truncated is reported with the byte, after the entries before it', async () => {
    const end = text.indexOf('valueQuantity');
    const { entries, error } = await readText(text.slice(0, end));
    expect(entries).toHaveLength(1);
    expect(error?.offset).toBe(Buffer.byteLength(text.slice(0, end)));
    expect(error?.message).toBe(
      `The file ends in the middle of the bundle: it is cut off (at byte ${error?.offset}).`,
    );
  });

  test.each<[string, string, number | null]>([
    ['a comma too many', '{"resourceType":"Bundle","entry":[{},]}', 37],
    ['a missing comma', '{"a":1 "b":2}', 7],
    ['a missing colon', '{"a" 1}', 5],
    ['a key that is no string', '{1:2}', 1],
    ['brackets that do not match', '{"entry":[}', 10],
    ['no JSON at all', 'resourceType: Bundle', 0],
    ['a control character in a string', '{"a":"\u0001"}', 6],
    ['two documents', '{"resourceType":"Bundle"}\n{"resourceType":"Bundle"}', 26],
    ['nesting without end', `{"a":${'['.repeat(200)}`, 104],
  ])('%s is reported with the byte', async (_, content, offset) => {
    const { error } = await readText(content);
    expect(error?.offset).toBe(offset);
  });

  test.each<[string, string | Uint8Array, string]>([
    ['an empty file', '', 'The file is empty.'],
    [
      'a single resource',
      '{"resourceType":"Patient"}',
      'The file is not a FHIR bundle but the resource Patient; NDJSON has each resource in one line.',
    ],
    ['some other JSON', '{"hello":"world"}', 'The file is not a FHIR bundle.'],
    ['a list', '[1,2,3]', 'The file is not a FHIR bundle.'],
    ['gzip', gzipSync('{}'), 'bundle.json is compressed with gzip: unpack it first.'],
    ['zip', 'PK\u0003\u0004', 'bundle.json is a zip archive or a spreadsheet, not a text file.'],
    ['XML', '<Bundle/>', 'bundle.json is XML; only the JSON form of FHIR is read.'],
  ])('%s is named', async (_, content, message) => {
    const { error } = await readText(content);
    expect(error?.message).toBe(message);
  });
});

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
    expect(leftOut).toEqual(['Medication: is not imported by itself']);
    expect(refused).toEqual([]);
  });

  test('resolve references to other files, also to later lines, whatever the names of the files', async () => {
    const { records } = await importFiles({ 'a.jsonl': [request], 'b.json': [medicine, condition] });
    expect(records[0]?.record.value).toMatchObject({ name: 'Metformin', condition: 'Diabetes' });
  });

  test('resume after a position with the same lines and blood type', async () => {
    using directory = openFilesOfTest();
    for (const [name, lines] of Object.entries(files)) directory.write(name, toNdjson(lines));
    await expectResumable(fhirImporter, [directory.directory]);
  });
});

describe.each(['bundle', 'export'])('an input with several patients (%s)', (input) => {
  const weightOf = (id: string, value: number) =>
    observation(`o-${id}`, '29463-7', value, 'kg', { subject: { reference: `Patient/${id}` } });
  const two = [ada, grace, weightOf('p1', 60.5), weightOf('p2', 70)];
  const read = (resources: readonly object[], options: CollectOptions = {}) =>
    input === 'bundle'
      ? importFiles({ 'bundle.json': [toBundle(resources)] }, options)
      : importFiles({ 'Patient.ndjson': resources.slice(0, 2), 'b.ndjson': resources.slice(2) }, options);

  test('is not imported, because the data of two people must not be mixed', async () => {
    await expect(read(two)).rejects.toThrow(
      `The ${input} is about 2 patients (Patient/p1, Patient/p2): choose one with --patient.`,
    );
  });

  test.each(['p2', 'Patient/p2', ...(input === 'bundle' ? ['urn:uuid:p2'] : [])])(
    "yields the chosen patient's data (%s)",
    async (patient) => {
      const { readings, refused, leftOut, profile } = await read(two, { patient });
      expect(readings).toMatchObject([{ value: 70 }]);
      expect(profile.name).toBe('Grace Hopper');
      expect(leftOut).toEqual(['Patient: about another patient']);
      expect(refused).toEqual([expect.stringContaining('Observation: about another patient (')]);
    },
  );

  test('is recognised by its references when it has no Patient resources', async () => {
    await expect(read([weightOf('p1', 60), weightOf('p2', 70)])).rejects.toThrow('is about 2 patients');
    expect((await read([weightOf('p1', 60)])).readings).toHaveLength(1);
  });

  test('reports when it does not contain the chosen patient', async () => {
    await expect(read(two, { patient: 'p3' })).rejects.toThrow(`The ${input} has no patient p3.`);
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
      expect(leftOut).toEqual(['Basic: is not imported by itself']);
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
    expect(leftOut).toEqual(['Basic: is not imported by itself']);
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

  test('a directory without export files, and a missing file, are reported', async () => {
    using files = openFilesOfTest();
    await expect(collect(fhirImporter, [files.directory])).rejects.toThrow('has no .ndjson files');
    for (const name of ['a.ndjson', 'a.json']) {
      const missing = collect(fhirImporter, [`${files.directory}/${name}`]);
      await expect(missing).rejects.toThrow(`There is no file ${name}.`);
    }
  });
});

test('a resumed bundle yields the same items as an uninterrupted run', async () => {
  using files = openFilesOfTest();
  const heartRate = (id: string, value: number) => observation(id, '8867-4', value, '/min');
  const resources = [
    { resourceType: 'Patient', id: 'p1', gender: 'female' },
    heartRate('o1', 60),
    { resourceType: 'Claim', id: 'x1' },
    { resourceType: 'Condition', id: 'c1', code: { text: 'Asthma' }, clinicalStatus: 'active' },
    heartRate('o2', 61),
    { resourceType: 'Condition', id: 'c1', code: { text: 'Asthma' } },
    observation('o3', '29463-7', 70, 'kg'),
  ];
  const file = files.write('bundle.json', JSON.stringify(toBundle(resources)));
  const { positions, refused } = await expectResumable(fhirImporter, [file]);
  expect(positions).toHaveLength(resources.length);
  expect(refused).toEqual([
    'FHIR version: is DSTU2 or STU3, of which only what R4 names alike is imported (entry[3] Condition/c1)',
  ]);
});

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
