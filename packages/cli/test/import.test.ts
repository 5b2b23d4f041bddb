import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ImportState } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { device, element, exportXml, metadata, recordXml } from '@phds/test-kit/apple-exports';
import { loinc, observation, toBundle } from '@phds/test-kit/bundle-files';
import { collectOutput } from '@phds/test-kit/collected-output';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { toZip } from '@phds/test-kit/zip-files';
import { type ImportArguments, importFiles, listImports } from '../src/commands/import.ts';
import { openIngestion } from '../src/connection.ts';
import { appleImporter } from '../src/importers/apple/importer.ts';
import { csvImporter } from '../src/importers/csv/importer.ts';
import { fhirImporter } from '../src/importers/fhir/importer.ts';
import {
  type ImportedReading,
  type Importer,
  type ImportSink,
  UnusableFile,
  zoneOfDates,
} from '../src/importers/ingest/importer.ts';
import type { ReportData } from '../src/importers/ingest/report.ts';
import { type FakeIngestion, startFakeIngestion } from './fake-ingestion.ts';

/** The report as `--json` prints it. */
type JsonReport = ReportData & { readonly ok: boolean; readonly error: string | null };

/** The arguments of a run for Ada; absent ones have their default. */
type ImportRun = Pick<ImportArguments, 'importer'> & Partial<ImportArguments>;

/** Runs the command with an environment. Returns its exit code and output. */
async function runImport(env: NodeJS.ProcessEnv, run: ImportRun) {
  const { output, errors, texts } = collectOutput();
  const code = await importFiles(
    { paths: [], userId: 'ada', patient: null, again: false, json: false, ...run },
    { output, errors, connect: () => openIngestion(env) },
  );
  return { code, output: texts.stdout, errors: texts.stderr };
}

/** Runs the command with `--json`. */
async function runReported(env: NodeJS.ProcessEnv, run: ImportRun) {
  const { code, output, errors } = await runImport(env, { ...run, json: true });
  return { code, report: JSON.parse(output) as JsonReport, errors };
}

let service: FakeIngestion;
let files: FilesOfTest;

beforeEach(async () => {
  service = await startFakeIngestion();
  files = openFilesOfTest();
});

afterEach(async () => {
  files[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const TOTAL = 200_000;
const PIECE = 1_000;

/**
 * Yields two hundred thousand items in chunks of a thousand, every hundredth of them a reading. `before` is called before each
 * chunk.
 */
function countingImporter(before: (position: number) => void = () => undefined): Importer {
  return {
    format: 'counting',
    takesSeveral: true,
    open: async ({ paths }) => ({
      files: paths,
      size: TOTAL,
      read: async (sink, from) => {
        for (let position = from; position < TOTAL; position += PIECE) {
          before(position);
          handOver(sink, position);
          await sink.reached(position + PIECE);
        }
        sink.take({ kind: 'profile', facts: { gender: 'other' } }, '', '');
      },
      [Symbol.asyncDispose]: async () => undefined,
    }),
  };
}

function handOver(sink: ImportSink, from: number): void {
  for (let index = from; index < from + PIECE; index += 1) {
    if (index % 100 > 0) sink.take({ kind: 'left-out', reason: 'is no reading' }, 'Item', '');
    else sink.take({ kind: 'reading', reading: readingAt(index) }, '', `item ${index}`);
  }
}

function readingAt(index: number): ImportedReading {
  const start = Date.UTC(2020, 0, 1, 0, index);
  return { type: 'Heart Rate', start, end: start, value: 60, unit: '/min', source: 'csv' };
}

const run = (importer: Importer, change: Partial<ImportArguments> = {}, env = service.env) =>
  runReported(env, { importer, ...change });

/** Runs until the defect of the file. Returns the position that health-data has stored. */
async function runIntoFault(change: Partial<ImportArguments> = {}): Promise<number> {
  const importer = countingImporter((position) => {
    if (position >= 150_000) throw new UnusableFile('Broken here');
  });
  const { code, errors } = await run(importer, change);
  expect({ code, errors }).toEqual({ code: 1, errors: 'Broken here.\n' });
  return Number([...service.imports.values()].at(-1)?.position);
}

/** The position at which a run starts to read. */
async function beginning(change: Partial<ImportArguments> = {}): Promise<number> {
  const positions: number[] = [];
  await run(
    countingImporter((position) => void positions.push(position)),
    change,
  );
  return positions[0] ?? TOTAL;
}

describe('an interrupted import', () => {
  test('resumes after everything stored, and reports on the whole file', async () => {
    const known = await runIntoFault();
    expect(known).toBeGreaterThan(0);
    const positions: number[] = [];
    const { code, report, errors } = await run(countingImporter((position) => void positions.push(position)));
    expect({ code, errors }).toEqual({
      code: 0,
      errors: 'An earlier run was interrupted: resuming where it stopped.\n',
    });
    expect(positions[0]).toBe(known);
    const { inserted, updated, unchanged } = report.stored;
    expect([inserted + updated + unchanged, report.leftOutCount]).toEqual([TOTAL / 100, (TOTAL / 100) * 99]);
    expect(service.readings.size).toBe(TOTAL / 100);
    expect(report.profile).toEqual(['gender']);
  });

  test('starts from the beginning with --again', async () => {
    await runIntoFault();
    expect(await beginning({ again: true })).toBe(0);
  });

  test('is not resumed for another content, user or option', async () => {
    const one = { paths: [files.write('one', 'content')] };
    await runIntoFault(one);
    expect(await beginning({ paths: [files.write('two', 'other content')] })).toBe(0);
    expect(await beginning({ ...one, userId: 'grace' })).toBe(0);
    expect(await beginning({ ...one, patient: 'p1' })).toBe(0);
    expect(await beginning({ paths: [files.write('three', 'content')] })).toBeGreaterThan(0);
  });

  test('starts from the beginning if the report of the earlier run is unreadable', async () => {
    await runIntoFault();
    for (const known of service.imports.values()) known.report = '{"from":"another version"}';
    expect(await beginning()).toBe(0);
  });

  test('ends when the person is erased in the meantime', async () => {
    const importer = countingImporter((position) => {
      if (position === 100_000) service.imports.clear();
    });
    const { code, errors } = await run(importer);
    expect([code, errors]).toEqual([1, "The user's data was erased while the import was running.\n"]);
  });
});

test('dates alone are days in the zone of the person', async () => {
  service.timeZone = 'America/Los_Angeles';
  const dated = files.write('dated.csv', 'type,start,value\nWeight,2024-03-05,70\n');
  const visit = { resourceType: 'Procedure', code: { text: 'Check' }, performedDateTime: '2024-03-05' };
  const bundle = files.write('bundle.json', JSON.stringify(toBundle([visit])));
  await runImport(service.env, { importer: csvImporter, paths: [dated] });
  await runImport(service.env, { importer: fhirImporter, paths: [bundle] });
  const seconds = BigInt(Date.parse('2024-03-05T08:00:00Z') / 1000);
  expect([...service.readings.values()]).toMatchObject([{ start: { seconds } }]);
  expect([...service.records.values()]).toMatchObject([{ record: { value: { timestamp: { seconds } } } }]);
  // Of a person without a zone, in that of the input.
  expect(zoneOfDates('', { timeZone: 'Europe/Oslo' })).toBe('Europe/Oslo');
});

describe('the list of imports', () => {
  async function list(json: boolean): Promise<string> {
    const { output, errors, texts } = collectOutput();
    await listImports({ userId: 'ada', json }, { output, errors, connect: () => openIngestion(service.env) });
    return texts.stdout;
  }

  test('shows the result of each import', async () => {
    expect(await list(false)).toBe('No imports.\n');
    await run(countingImporter());
    const [head, row] = (await list(false)).split('\n');
    expect(head).toMatch(/^started +state +format +size +new +updated +unchanged +left out +refused$/);
    expect(row).toMatch(/finished +counting +0\.0 MB +2000 +0 +0 +198000 +0$/);
    expect(JSON.parse(await list(true))).toMatchObject({
      user: 'ada',
      imports: [{ format: 'counting', state: 'finished', counts: [2000, 0, 0, 198_000, 0] }],
    });
  });

  test('shows which imports have stopped reporting', async () => {
    await run(countingImporter());
    for (const known of service.imports.values()) known.state = ImportState.RUNNING;
    expect(JSON.parse(await list(true))).toMatchObject({ imports: [{ state: 'interrupted' }] });
  });
});

describe('an unusable service configuration', () => {
  test('a wrong key is reported', async () => {
    const env = { ...service.env, SERVICE_PRIVATE_KEY: 'nonsense' };
    const { code, errors } = await run(countingImporter(), {}, env);
    expect(code).toBe(1);
    expect(errors).toBe(
      'Configuration is not usable:\n  - SERVICE_PRIVATE_KEY: must be an Ed25519 private key (PKCS #8 PEM) (docs/operations/keys.md#making-keys)\n',
    );
  });

  test('the key of another caller is not admitted', async () => {
    const stranger = await startFakeIngestion();
    await stranger[Symbol.asyncDispose]();
    const env = { ...service.env, SERVICE_PRIVATE_KEY: stranger.env['SERVICE_PRIVATE_KEY'] };
    const { code, errors } = await run(countingImporter(), {}, env);
    expect(code).toBe(1);
    expect(errors).toContain('does not admit this caller');
  });
});

/** The arguments that import a bundle with this text. */
const bundleOf = (content: string) => ({
  importer: fhirImporter,
  paths: [files.write('bundle.json', content)],
});

const runBundle = (content: string) => runImport(service.env, bundleOf(content));

const runBundleJson = (content: string) => runReported(service.env, bundleOf(content));

const subject = { reference: 'urn:uuid:p1' };
const patient = {
  resourceType: 'Patient',
  id: 'p1',
  name: [{ text: 'Ada Lovelace' }],
  gender: 'female',
  birthDate: '1815-12-10',
};
const PERSON = JSON.stringify(
  toBundle([
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
  ]),
);

describe('importing a bundle', () => {
  test('stores readings, records and profile, and counts them by type', async () => {
    const { code, report } = await runBundleJson(PERSON);
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
          reason: 'date is only a year',
          count: 1,
          examples: ['entry[6] Observation/o4'],
        },
      ],
      leftOut: [{ reason: 'is not imported by itself', types: { Claim: 1 } }],
    });
    expect(service.profiles).toMatchObject([
      { userId: 'ada', name: 'Ada Lovelace', gender: 'female', dateOfBirth: '1815-12-10', bloodType: 'A+' },
    ]);
  });

  test('prints tables for people', async () => {
    const { output, errors } = await runBundle(PERSON);
    expect(output.replace(/\d+(\.\d+)? s\n/, '0 s\n').split('\n')).toEqual([
      'bundle.json for ada, 0 s',
      '',
      'Readings        new  updated  unchanged',
      'Blood Pressure  1    0        0',
      'BP Diastolic    1    0        0',
      'Weight          1    0        0',
      '',
      'Records                 new  updated  unchanged',
      'condition               1    0        0',
      'ehr-record Observation  1    0        0',
      'medication              1    0        0',
      '',
      'Profile: name, gender, dateOfBirth, bloodType',
      '',
      'Left out on purpose',
      '  is not imported by itself: Claim 1',
      '',
      'Refused',
      '  1 × Observation: date is only a year (entry[6] Observation/o4)',
      '',
      '6 new, 0 updated, 0 unchanged, 1 left out, 1 refused.',
      '',
    ]);
    expect(errors).toBe('');
  });

  test('holds back everything of a truncated file and names the byte', async () => {
    const { code, output, errors } = await runBundle(PERSON.slice(0, -20));
    expect(code).toBe(1);
    expect(errors).toBe(
      `The file ends in the middle of the bundle: it is cut off (at byte ${Buffer.byteLength(PERSON) - 20}).\n`,
    );
    expect(output).toBe('');
    expect(service.batchSizes).toEqual([]);
  });

  test('ignores a blood type on which two observations disagree', async () => {
    const blood = (id: string, valueString: string) =>
      observation(id, '882-1', 0, '', { subject, valueQuantity: undefined, valueString });
    const bundle = toBundle([patient, blood('b1', 'A+'), blood('b2', 'B+')]);
    const { report } = await runBundleJson(JSON.stringify(bundle));
    expect(report.profile).toEqual(['name', 'gender', 'dateOfBirth']);
  });
});

const runApple = (path: string) => runReported(service.env, { importer: appleImporter, paths: [path] });

const WATCH = device({ manufacturer: 'Apple Inc.', model: 'Watch', hardware: 'Watch6,7', software: '10.2' });
const pressure = ['Systolic', 'Diastolic'].map((part, index) =>
  recordXml({
    type: `HKQuantityTypeIdentifierBloodPressure${part}`,
    unit: 'mmHg',
    value: String(120 - 40 * index),
    sourceName: 'Omron',
  }),
);
const XML = exportXml(
  element('Me', {
    HKCharacteristicTypeIdentifierDateOfBirth: '1990-05-20',
    HKCharacteristicTypeIdentifierBiologicalSex: 'HKBiologicalSexMale',
    HKCharacteristicTypeIdentifierBloodType: 'HKBloodTypeANegative',
  }),
  recordXml({ sourceName: 'Excalibur', device: WATCH }),
  recordXml({ sourceName: 'Excalibur', device: WATCH }),
  recordXml({ sourceName: 'Excalibur', device: WATCH, value: '71' }),
  recordXml({ value: '999' }),
  recordXml({ value: 'seventy' }),
  recordXml(
    {
      type: 'HKCategoryTypeIdentifierSleepAnalysis',
      value: 'HKCategoryValueSleepAnalysisAsleepREM',
      unit: null,
      sourceName: 'Excalibur',
    },
    metadata('HKTimeZone', 'Europe/Oslo'),
  ),
  recordXml(
    { type: 'HKQuantityTypeIdentifierBodyMass', unit: 'kg', value: '70' },
    metadata('HKWasUserEntered', '1'),
  ),
  recordXml({ type: 'HKCategoryTypeIdentifierHeadache', value: 'HKCategoryValueSeverityMild', unit: null }),
  recordXml({ type: 'HKQuantityTypeIdentifierVO2Max', unit: 'mL/min·kg', value: '40' }),
  ...pressure,
  element('Correlation', { type: 'HKCorrelationTypeIdentifierBloodPressure' }, ...pressure),
  element('Workout', {}, element('WorkoutRoute', {}, element('Location', { latitude: '59.91' }))),
  element('ActivitySummary', { dateComponents: '2024-01-05' }),
);
const FOLDER = 'apple_health_export';
const ARCHIVE = toZip([
  { name: `${FOLDER}/exportar.xml`, content: XML },
  { name: `${FOLDER}/export_cda.xml`, content: '<ClinicalDocument/>' },
  { name: `${FOLDER}/workout-routes/route_1.gpx`, content: '<gpx/>' },
  {
    name: `${FOLDER}/electrocardiograms/ecg_1.csv`,
    content: 'Name,Jo Doe\nDatum,2024-01-05 10:00:00 +0100\nGerät,"Watch6,7"\n\n1,5\n',
  },
  { name: `${FOLDER}/electrocardiograms/ecg_2.csv`, content: 'Name,Jo Doe\n' },
  { name: `${FOLDER}/electrocardiograms/ecg_3.csv`, content: 'Name,Jo Doe\n', packed: Buffer.alloc(9, 0xff) },
]);

const one = { inserted: 1, updated: 0, unchanged: 0 };

/** The number of items in the report, stored or not. */
function countOf({ stored, refusedCount, leftOut }: JsonReport): number {
  const left = leftOut.flatMap(({ types }) => Object.values(types));
  return (
    stored.inserted +
    stored.updated +
    stored.unchanged +
    refusedCount +
    left.reduce((sum, count) => sum + count, 0)
  );
}

describe('importing an archive', () => {
  test('accounts for every element of the export', async () => {
    service.refusedValue = 999;
    const { code, report } = await runApple(files.write('export.zip', ARCHIVE));
    expect({ code, error: report.error }).toEqual({ code: 0, error: null });
    expect(report.readings).toEqual({
      'BP Diastolic': one,
      'Blood Pressure': one,
      ECG: one,
      'Heart Rate': { inserted: 1, updated: 0, unchanged: 2 },
      'Sleep REM': one,
      Weight: one,
    });
    expect(report.records).toEqual({ symptom: one });
    expect(
      report.refused.map(({ type, reason, count, examples }) => [type, reason, count, ...examples]),
    ).toEqual(
      expect.arrayContaining([
        ['Heart Rate', 'value is outside the plausible range', 1, 'line 13'],
        ['Heart Rate', 'value is not a number', 1, 'line 14'],
        ['ECG', 'no date of recording', 1, `${FOLDER}/electrocardiograms/ecg_2.csv`],
        ['ECG', 'file of the archive is damaged', 1, `${FOLDER}/electrocardiograms/ecg_3.csv`],
      ]),
    );
    const left = Object.assign({}, ...report.leftOut.map(({ types }) => types));
    expect(left).toEqual({
      ExportDate: 1,
      VO2Max: 1,
      Correlation: 1,
      Workout: 1,
      ActivitySummary: 1,
      'export_cda.xml': 1,
      'workout route': 1,
    });
    // Fifteen elements below the root besides Me, which is the profile; five other files.
    expect(countOf(report)).toBe(15 + 5);
    expect(report.profile.toSorted()).toEqual(['bloodType', 'dateOfBirth', 'gender']);
    expect(service.profiles).toMatchObject([
      { userId: 'ada', defaultTimeZone: 'Europe/Oslo' },
      { userId: 'ada', gender: 'male', dateOfBirth: '1990-05-20', bloodType: 'A-' },
    ]);
  });

  test('sends nothing about who the person is or where they have been', async () => {
    await runApple(files.write('export.zip', ARCHIVE));
    const sent = [...service.readings.values(), ...service.records.values()].map(({ source }) => source);
    expect(new Set(sent)).toEqual(new Set(['apple-watch', 'manual', 'omron']));
    const everything = JSON.stringify([...service.readings, ...service.records], (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(everything).not.toMatch(/Excalibur|Jo|Doe|59\.91/);
  });

  test('a second import changes nothing, packed or not', async () => {
    await runApple(files.write('export.zip', ARCHIVE));
    const { report: again } = await runApple(files.write('export.zip', ARCHIVE));
    expect(again.stored).toEqual({ inserted: 0, updated: 0, unchanged: 10 });
    const { report: unpacked } = await runApple(files.write('export.xml', XML));
    expect(unpacked.stored).toEqual({ inserted: 0, updated: 0, unchanged: 9 });
  });
});

test('nothing of a damaged export is stored', async () => {
  const { code, report } = await runApple(files.write('export.xml', XML.slice(0, -60)));
  expect(code).toBe(1);
  expect(report.error).toContain('The file ends in the middle, in line');
  expect([service.batchSizes, service.profiles]).toEqual([[], []]);
});

test('an Apple export is refused together with --patient, because it is about one person', async () => {
  const request = { paths: [files.write('export.xml', XML)], patient: 'p1', onChecked: () => undefined };
  await expect(appleImporter.open(request)).rejects.toThrow(
    'An export is about one person: leave --patient out.',
  );
});
