import { crc32, deflateRawSync } from 'node:zlib';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { device, element, exportXml, metadata, recordXml } from '@phds/test-kit/apple-exports';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { toZip } from '@phds/test-kit/zip-files';
import { appleImporter } from '../src/importers/apple/importer.ts';
import { type FakeIngestion, startFakeIngestion } from './fake-ingestion.ts';
import { type JsonReport, runReported } from './import-runs.ts';

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

const run = (path: string) => runReported(service.env, { importer: appleImporter, paths: [path] });

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
    const { code, report } = await run(files.write('export.zip', ARCHIVE));
    expect({ code, error: report.error }).toEqual({ code: 0, error: null });
    expect(report.readings).toEqual({
      'BP Diastolic': one,
      'Blood Pressure': one,
      ECG: one,
      'Heart Rate': one,
      'Sleep REM': one,
      Weight: one,
    });
    expect(report.records).toEqual({ symptom: one });
    expect(
      report.refused.map(({ type, reason, count, examples }) => [type, reason, count, ...examples]),
    ).toEqual(
      expect.arrayContaining([
        [
          'Heart Rate',
          'an earlier item in the file has another value for the same time and source',
          2,
          'line 12',
          'line 13',
        ],
        ['Heart Rate', 'value is not a number', 1, 'line 14'],
        ['ECG', 'no date of recording', 1, `${FOLDER}/electrocardiograms/ecg_2.csv`],
        ['ECG', 'file of the archive is damaged', 1, `${FOLDER}/electrocardiograms/ecg_3.csv`],
      ]),
    );
    const left = Object.assign({}, ...report.leftOut.map(({ types }) => types));
    expect(left).toEqual({
      ExportDate: 1,
      'Heart Rate': 1,
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

  test('stores a blood pressure pair with one time and one source', async () => {
    await run(files.write('export.zip', ARCHIVE));
    const pair = [...service.readings.values()].filter(({ unit }) => unit === 'mmHg');
    expect(
      pair.map(({ type, value, source, start }) => [type, value, source, start && timestampMs(start)]),
    ).toEqual([
      ['Blood Pressure', 120, 'omron', Date.UTC(2024, 0, 5, 9, 0)],
      ['BP Diastolic', 80, 'omron', Date.UTC(2024, 0, 5, 9, 0)],
    ]);
  });

  test('sends nothing about who the person is or where they have been', async () => {
    await run(files.write('export.zip', ARCHIVE));
    const sent = [...service.readings.values(), ...service.records.values()].map(({ source }) => source);
    expect(new Set(sent)).toEqual(new Set(['apple-watch', 'manual', 'omron']));
    const everything = JSON.stringify([...service.readings, ...service.records], (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(everything).not.toMatch(/Excalibur|Jo|Doe|59\.91/);
  });

  test('a second import changes nothing, packed or not', async () => {
    await run(files.write('export.zip', ARCHIVE));
    const { report: again } = await run(files.write('export.zip', ARCHIVE));
    expect(again.stored).toEqual({ inserted: 0, updated: 0, unchanged: 7 });
    const { report: unpacked } = await run(files.write('export.xml', XML));
    expect(unpacked.stored).toEqual({ inserted: 0, updated: 0, unchanged: 6 });
  });
});

describe('a damaged export', () => {
  test.each([
    ['cut off', XML.slice(0, -60), 'The file ends in the middle, in line'],
    ['not an export', '<ClinicalDocument/>', 'The file is not an Apple Health export'],
    [
      'a bomb',
      '<!DOCTYPE HealthData [<!ENTITY a "b">]><HealthData><Record value="&a;"/></HealthData>',
      'undefined entity',
    ],
  ])('%s is not imported at all', async (_name, content, message) => {
    const { code, report } = await run(files.write('export.xml', content));
    expect(code).toBe(1);
    expect(report.error).toContain(message);
    expect(service.batchSizes).toEqual([]);
    expect(service.profiles).toEqual([]);
  });
});

test('an archive of 18 KB that unpacks to 1.5 GB is refused before anything is stored', async () => {
  const content = Buffer.from(`{"resourceType":"Observation","x":[${'[],'.repeat(2_700_000)}0]}`);
  const [packed, statedChecksum, statedSize] = [deflateRawSync(content), crc32(content), content.length];
  const record = { content: '', packed, statedChecksum, statedSize };
  const archive = toZip([
    { ...record, name: 'c/0.json' },
    { name: 'export.xml', content: XML },
    ...Array.from({ length: 180 }, (_, index) => ({
      ...record,
      name: `c/${index + 1}.json`,
      sharesFirst: true,
    })),
  ]);
  expect(archive.length).toBeLessThan(19 * 1024);
  const { code, report, errors } = await run(files.write('export.zip', archive));
  expect(code).toBe(1);
  expect(report.error).toBe('The zip archive contains overlapping files.');
  expect(errors).toContain('The zip archive contains overlapping files.');
  expect(countOf(report)).toBe(0);
  expect([service.imports.size, service.readings.size]).toEqual([0, 0]);
});

test('an Apple export is refused together with --patient, because it is about one person', async () => {
  const request = { paths: [files.write('export.xml', XML)], patient: 'p1', onChecked: () => undefined };
  await expect(appleImporter.open(request)).rejects.toThrow(
    'An export is about one person: leave --patient out.',
  );
});
