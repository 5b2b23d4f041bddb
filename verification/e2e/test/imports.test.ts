import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { listImports } from '@phds/running-system/ingestion';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { Answer } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { eventually } from '@phds/test-kit/conditions';
import { toZip } from '@phds/test-kit/zip-files';
import { CLINICAL_RESOURCES, type Resource, toBundle } from '../src/clinical-bundle.ts';
import { runImport, startImport } from '../src/import-command.ts';
import { readLogs, readTables } from '../src/leak-search.ts';

const IMPORTERS = 20;
// For twenty processes that start at once, or one large import, on a machine that runs other tests.
const PATIENCE_MS = 180_000;
const MINUTE_MS = 60_000;
const BEGIN = Date.UTC(2024, 0, 1);

const record = (type: string, unit: string, value: string, more = '', child = '') =>
  `<Record type="HK${type}" sourceName="Nora’s Apple Watch" sourceVersion="10.2" unit="${unit}" value="${value}"
    startDate="2024-01-05 08:00:00 +0900" endDate="2024-01-05 08:30:00 +0900" ${more}>${child}</Record>`;
const XML = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE HealthData [
<!ELEMENT HealthData (ExportDate,Me,(Record|Workout)*
]>
<HealthData locale="en_GB">
<ExportDate value="2024-06-01 08:10:05 +0900"/>
<Me HKCharacteristicTypeIdentifierDateOfBirth="1990-05-20"
  HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale"
  HKCharacteristicTypeIdentifierBloodType="HKBloodTypeONegative"/>
${record('QuantityTypeIdentifierHeartRate', 'count/min', '71.6')}
${record('QuantityTypeIdentifierHeartRate', 'count/min', '900', 'device="x"')}
${record('QuantityTypeIdentifierRestingHeartRate', 'count/min', '1000')}
${record('QuantityTypeIdentifierOxygenSaturation', '%', '0.973')}
${record('QuantityTypeIdentifierBodyFatPercentage', '%', '0.215')}
${record('QuantityTypeIdentifierBodyMassIndex', 'count', '22.5312')}
${record('QuantityTypeIdentifierBodyMass', 'lb', '154.3', '', '<MetadataEntry key="HKWasUserEntered" value="1"/>')}
${record('QuantityTypeIdentifierDistanceWalkingRunning', 'mi', '1')}
${record('QuantityTypeIdentifierActiveEnergyBurned', 'kJ', '418.4')}
${record('QuantityTypeIdentifierBloodGlucose', 'mmol&lt;180.1558800000541&gt;/L', '5.5')}
${record('CategoryTypeIdentifierSleepAnalysis', '', 'HKCategoryValueSleepAnalysisAsleepDeep', '', '<MetadataEntry key="HKTimeZone" value="Europe/Oslo"/>')}
${record('CategoryTypeIdentifierHeadache', '', 'HKCategoryValueSeverityMild')}
<Workout workoutActivityType="Running"><WorkoutRoute sourceName="Nora’s iPhone"><Location latitude="59.913868"/></WorkoutRoute></Workout>
</HealthData>
`;
const FOLDER = 'apple_health_export';
const ARCHIVE = toZip([
  { name: `${FOLDER}/eksport.xml`, content: XML },
  {
    name: `${FOLDER}/export_cda.xml`,
    content: '<ClinicalDocument><name>Nora Skarphagen</name></ClinicalDocument>',
  },
  { name: `${FOLDER}/workout-routes/route.gpx`, content: '<trkpt lat="59.913868"/>' },
  {
    name: `${FOLDER}/electrocardiograms/ecg_2024-01-06.csv`,
    content: 'Navn,Nora Skarphagen\nDato,2024-01-06 09:00:00 +0900\nEnhet,"Watch6,7"\n\n-12,5\n',
  },
]);

let stack: SharedStack;
let directory: string;

beforeAll(async () => {
  stack = await useSharedStack();
  directory = await mkdtemp(join(tmpdir(), 'phds-imports-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function write(name: string, lines: readonly string[]): Promise<string> {
  const path = join(directory, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

/** Returns a function that reads a person's data as a partner. */
async function readerOf(user: string): Promise<(path: string) => Promise<Answer['body']>> {
  const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  const { accessToken } = await app.connect(await signIn(stack, user), SCOPE_NAMES);
  return async (path) => expectStatus(200, await app.read(accessToken, `/api/v1/${path}`)).body.data;
}

const columns = (items: Record<string, unknown>[], ...names: string[]) =>
  items.map((item) => names.map((name) => item[name]));

/** Imports twice, checks that the second import changes nothing, and returns the first report. */
async function importTwice(args: readonly string[]): Promise<Answer['body']> {
  const first = await runImport(stack, args);
  const second = await runImport(stack, args);
  const { inserted, updated, unchanged } = first.stored;
  expect({ updated, unchanged }).toEqual({ updated: 0, unchanged: 0 });
  expect(second.stored).toEqual({ inserted: 0, updated: 0, unchanged: inserted });
  expect({ refused: second.refused, leftOut: second.leftOut }).toEqual({
    refused: first.refused,
    leftOut: first.leftOut,
  });
  return first;
}

describe('phds import csv', () => {
  test('stores every kind of record', async () => {
    const time = '2024-05-04T08:00:00+02:00';
    const names =
      'record,key,name,severity,sinceDate,dosage,pattern,medication,scheduledAt,status,description,timestamp,mood,note,title,dateTime,generatedAt,from,to,summary,resourceType,bloodType';
    const line = (fields: Readonly<Record<string, string>>) =>
      names
        .split(',')
        .map((name) => fields[name] ?? '')
        .join(',');
    const file = await write('records.csv', [
      names,
      line({ record: 'medication', key: 'm1', name: 'Metformin', dosage: '1 tablet', pattern: 'BID' }),
      line({ record: 'adherence', medication: 'm1', scheduledAt: time, status: 'taken' }),
      line({ record: 'condition', name: 'Asthma', severity: 'mild', sinceDate: '2019-05' }),
      line({ record: 'allergy', name: '"Peanut, roasted"', severity: 'severe' }),
      line({ record: 'symptom', description: 'Headache', severity: 'moderate', timestamp: time }),
      line({ record: 'mood', mood: 'pleasant', note: '"A walk,\nthen tea"', timestamp: time }),
      line({ record: 'appointment', title: 'Check-up', dateTime: '2030-01-02T09:30+01:00' }),
      line({ record: 'report', generatedAt: time, from: '2024-04-01', to: '2024-04-30', summary: 'Steady' }),
      line({ record: 'ehr', resourceType: 'Procedure', summary: '=1+1', timestamp: time }),
      line({ record: 'profile', name: 'Carla Ortiz', bloodType: 'A+' }),
      line({ record: 'condition', name: 'Cough', severity: 'awful' }),
    ]);
    const report = await importTwice(['csv', file, '--user', 'carlo']);
    expect(report.stored.inserted).toBe(9);
    expect(report.profile).toEqual(['name', 'bloodType']);
    expect(columns(report.refused, 'type', 'reason', 'examples')).toEqual([
      ['condition', 'severity must be one of mild, moderate, severe', ['line 13']],
    ]);
    const read = await readerOf('carlo');
    expect(await read('profile')).toMatchObject({ name: 'Carla Ortiz', bloodType: 'A+' });
    const medications = await read('medications');
    expect(columns(medications, 'name', 'dosage', 'pattern')).toEqual([['Metformin', '1 tablet', 'BID']]);
    const [medication] = columns(medications, 'id').flat();
    expect(await read(`medications/${medication}/adherence`)).toMatchObject([{ status: 'taken' }]);
    expect(await read('conditions')).toMatchObject([{ name: 'Asthma', sinceDate: '2019-05' }]);
    expect(await read('allergies')).toMatchObject([{ name: 'Peanut, roasted', severity: 'severe' }]);
    expect(await read('symptoms')).toMatchObject([{ description: 'Headache', severity: 'moderate' }]);
    expect(await read('mood')).toMatchObject([{ mood: 'pleasant', note: 'A walk,\nthen tea' }]);
    expect(await read('appointments')).toMatchObject([{ dateTime: '2030-01-02T09:30:00+01:00' }]);
    expect(await read('reports')).toMatchObject([{ summary: 'Steady' }]);
    expect(await read('ehr')).toMatchObject([{ resourceType: 'Procedure', summary: '=1+1' }]);
  });
});

describe('phds import smart', () => {
  test('stores the rows of one patient', async () => {
    const table = (...rows: string[][]) => rows.map((row) => row.join('\t'));
    await write(
      'tables/patients.txt',
      table(
        ['dob', 'PID', 'gender', 'lname', 'fname'],
        ['1971-05-09', '7', 'female', 'Quinn', 'Rosa'],
        ['1965-01-02', '8', 'male', 'Quinn', 'Paul'],
      ),
    );
    await write(
      'tables/vitals.txt',
      table(
        ['ID', 'PID', 'TIMESTAMP', 'TEMPERATURE', 'SYSTOLIC', 'DIASTOLIC'],
        ['1', '7', '2007-04-18T13:32:00', '36.88889', '121', '62'],
        ['2', '7', '2007-07-18', '', '40', '64'],
        ['3', '8', '2007-07-18', '37', '', ''],
      ),
    );
    await write(
      'tables/meds.txt',
      table(['ID', 'PID', 'RxNorm', 'Name'], ['1', '7', '308135', 'Amlodipine']),
    );
    await write(
      'tables/refills.txt',
      table(['ID', 'PID', 'DATE', 'RXN', 'Q'], ['1', '7', '2008-08-22', '308135', '90']),
    );
    const tables = join(directory, 'tables');
    await expect(runImport(stack, ['smart', tables, '--user', 'sam'])).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining('There are 7, 8'),
    });
    const report = await importTwice(['smart', tables, '--user', 'sam', '--patient', '7']);
    expect(report.stored.inserted).toBe(4 + 2);
    expect(columns(report.refused, 'type', 'examples')).toEqual([['Blood Pressure', ['vitals.txt line 3']]]);
    const read = await readerOf('sam');
    expect(await read('profile')).toMatchObject({ name: 'Rosa Quinn', dateOfBirth: '1971-05-09' });
    expect(columns(await read('health-data/temperature'), 'value', 'timestamp')).toEqual([
      [36.89, '2007-04-18T13:32:00.000Z'],
    ]);
    expect(columns(await read('health-data/blood-pressure'), 'value')).toHaveLength(3);
    expect(await read('medications')).toMatchObject([{ name: 'Amlodipine' }]);
    expect(await read('ehr')).toMatchObject([
      { resourceType: 'MedicationDispense', summary: 'Amlodipine; dispensed; 90' },
    ]);
  });
});

// Tests of one file run in order; each test of a format builds on the one before.
describe('phds import apple', () => {
  let read: Awaited<ReturnType<typeof readerOf>>;
  const rowsOf = async (category: string) =>
    columns(await read(`health-data/${category}`), 'type', 'value', 'unit', 'source');

  beforeAll(async () => {
    read = await readerOf('nora');
  });

  test('stores valid data and explains why it refuses the rest', async () => {
    const archive = join(directory, 'export.zip');
    await writeFile(archive, ARCHIVE);
    const report = await runImport(stack, ['apple', archive, '--user', 'nora']);
    expect(report).toMatchObject({ ok: true, error: null, user: 'nora', refusedCount: 2 });
    expect(report.stored).toEqual({ inserted: 11, updated: 0, unchanged: 0 });
    expect(
      report.refused.map(({ type, reason }: Record<string, string>) => [type, reason]).toSorted(),
    ).toEqual([
      ['Heart Rate', 'an earlier item in the file has another value for the same time and source'],
      ['Resting HR', 'value is outside the plausible range 20 to 200 /min'],
    ]);
  });

  test('is read back in the units and decimals of the interface', async () => {
    expect(await rowsOf('heart')).toEqual([
      ['ECG', null, '/min', 'apple-watch'],
      ['Heart Rate', 72, '/min', 'apple-watch'],
    ]);
    expect(await rowsOf('oxygen')).toEqual([['SPO2', 97.3, '%', 'apple-watch']]);
    expect(new Set((await rowsOf('body-composition')).map(String))).toEqual(
      new Set(['Body Fat,21.5,%,apple-watch', 'BMI,22.5,kg/m2,apple-watch', 'Weight,69.99,kg,manual']),
    );
    expect(new Set((await rowsOf('activity')).map(String))).toEqual(
      new Set(['Distance,1609.3,m,apple-watch', 'Calories,100,kcal,apple-watch']),
    );
    expect(await rowsOf('glucose')).toEqual([['Glucose', 99.1, 'mg/dL', 'apple-watch']]);
    expect(await rowsOf('sleep')).toEqual([['Sleep Deep', 30, 'min', 'apple-watch']]);
    expect(await read('symptoms')).toMatchObject([
      { description: 'Headache', severity: 'mild', timestamp: '2024-01-04T23:00:00.000Z' },
    ]);
  });

  test('stores nothing about who the person is or where they have been', async () => {
    for (const { name, text } of [...(await readTables(stack)), ...(await readLogs(stack))]) {
      expect([name, /Nora|Skarphagen|59\.9138/.exec(text)?.[0]]).toEqual([name, undefined]);
    }
  });
});

describe('phds import fhir', () => {
  const importFhir = async (name: string, resources: readonly Resource[]) =>
    runImport(stack, ['fhir', await write(name, [toBundle(resources)]), '--user', 'rosa']);

  test('stores valid data and explains why it refuses the rest', async () => {
    const report = await importFhir('rosa.json', CLINICAL_RESOURCES);
    expect(report).toMatchObject({ ok: true, error: null, user: 'rosa', refusedCount: 1 });
    expect(report.refused).toEqual([
      expect.objectContaining({
        type: expect.stringContaining('Heart Rate'),
        count: 1,
        reason: expect.any(String),
      }),
    ]);
    expect(report.stored).toMatchObject({ updated: 0, unchanged: 0 });
    expect(report.stored.inserted).toBe(13 + 8);
  });

  test('updates changed items in place', async () => {
    const read = await readerOf('rosa');
    const before = await read('health-data/heart');
    const changed = CLINICAL_RESOURCES.map((resource) => correct(resource));
    const report = await importFhir('corrected.json', changed);
    expect(report.stored).toMatchObject({ inserted: 0, updated: 1, unchanged: 20 });
    const after = await read('health-data/heart');
    expect(columns(after, 'value')).toEqual([[81], [66]]);
    expect(columns(after, 'id')).toEqual(columns(before, 'id'));
  });
});

/** The older heart rate is corrected. */
function correct(resource: Resource): Resource {
  const value = resource['valueQuantity'] as { value: number } | undefined;
  return value?.value === 74.6 ? { ...resource, valueQuantity: { ...value, value: 66 } } : resource;
}

/** Writes steps for this many minutes, alternating between two devices, with an occasional implausible value. */
async function writeSteps(name: string, minutes: number): Promise<string> {
  const lines = ['type,start,end,value,unit,source'];
  for (let minute = 0; minute < minutes; minute += 1) {
    const [start, end] = [minute, minute + 1].map((n) => new Date(BEGIN + n * MINUTE_MS).toISOString());
    const value = minute % 1000 === 999 ? 1_000_000 : minute % 90;
    lines.push(`Steps,${start},${end},${value},count,${minute % 2 === 0 ? 'iphone' : 'apple-watch'}`);
  }
  const path = join(directory, name);
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

const ACTIVITY_SCOPES = ['read:health-data:activity', 'read:aggregations', 'read:trends'];
const PATHS = [
  'health-data/activity',
  'aggregations',
  'trends?type=steps&bucket=day',
  'trends?type=steps&bucket=hour',
];

// Fields that differ between people and responses.
const OWN = new Set(['id', 'generatedAt']);

/** What partners read about a person's activity: the newest readings, summaries, totals. */
async function readActivity(user: string): Promise<Answer['body'][]> {
  const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  const { accessToken } = await app.connect(await signIn(stack, user), ACTIVITY_SCOPES);
  const answers = await Promise.all(PATHS.map((path) => app.read(accessToken, `/api/v1/${path}`)));
  return answers.map((answer) =>
    JSON.parse(
      JSON.stringify(expectStatus(200, answer).body, (name, value) => (OWN.has(name) ? null : value)),
    ),
  );
}

function countOf({ stored, refusedCount, leftOutCount }: Answer['body']): number {
  return stored.inserted + stored.updated + stored.unchanged + refusedCount + leftOutCount;
}

describe('concurrent imports of the same file', () => {
  test(
    'leave exactly one copy, and the totals of a single import',
    async () => {
      const minutes = 4_000;
      const file = await writeSteps('steps.csv', minutes);
      await runImport(stack, ['csv', file, '--user', 'one']);
      const reports = await Promise.all(
        Array.from({ length: IMPORTERS }, () => runImport(stack, ['csv', file, '--user', 'many'])),
      );
      expect(reports.map(countOf)).toEqual(Array(IMPORTERS).fill(minutes));
      expect(reports.map(({ refusedCount }) => refusedCount)).toEqual(Array(IMPORTERS).fill(4));
      expect(reports.reduce((sum, { stored }) => sum + stored.inserted, 0)).toBe(minutes - 4);
      expect(reports.reduce((sum, { stored }) => sum + stored.updated, 0)).toBe(0);
      const activity = await readActivity('many');
      expect(activity[0].pagination.total).toBe(minutes - 4);
      expect(activity).toEqual(await readActivity('one'));
      expect(await listImports(stack, 'many')).toMatchObject([{ state: 'IMPORT_STATE_FINISHED' }]);
    },
    PATIENCE_MS,
  );
});

describe('an interrupted import', () => {
  test(
    'resumes where it stopped and reports on the whole file',
    async () => {
      const minutes = 80_000;
      const file = await writeSteps('many-steps.csv', minutes);
      const args = ['csv', file, '--user', 'killed'];
      const first = startImport(stack, args);
      const ended = once(first, 'exit');
      await eventually(async () =>
        (await listImports(stack, 'killed')).some(({ report = '' }) => report !== ''),
      );
      first.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);
      const [interrupted] = await listImports(stack, 'killed');
      const before = countOf(JSON.parse(interrupted?.report ?? ''));
      expect(interrupted?.state).toBe('IMPORT_STATE_RUNNING');
      expect(before).toBeGreaterThan(0);
      expect(before).toBeLessThan(minutes);
      const report = await runImport(stack, args);
      expect(countOf(report)).toBe(minutes);
      expect(report).toMatchObject({ refusedCount: minutes / 1000, stored: { updated: 0 } });
      const [list] = await readActivity('killed');
      expect(list.pagination.total).toBe(minutes - minutes / 1000);
      const again = await runImport(stack, args);
      expect(again.stored).toEqual({ inserted: 0, updated: 0, unchanged: minutes - minutes / 1000 });
    },
    PATIENCE_MS,
  );
});
