import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { Answer } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { toZip } from '@phds/test-kit/zip-files';
import { readLogs, readTables } from '../src/leak-search.ts';

const USER = 'nora';

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
let app: PartnerApp;
let token: string;

beforeAll(async () => {
  stack = await useSharedStack();
  directory = await mkdtemp(join(tmpdir(), 'phds-apple-'));
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  token = (await app.connect(await signIn(stack, USER), SCOPE_NAMES)).accessToken;
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** Runs the command as a person would and returns its report. */
async function importApple(name: string, content: string | Uint8Array): Promise<Answer['body']> {
  const file = join(directory, name);
  await writeFile(file, content);
  const program = join(repositoryRoot, 'packages/cli/src/main.ts');
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    HEALTH_DATA_ADDRESS: stack.rpcAddresses['health-data'],
    SERVICE_PRIVATE_KEY_FILE: stack.keys.servicePrivateKeys.importer,
  };
  const args = [program, 'import', 'apple', file, '--user', USER, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout);
}

const read = async (path: string): Promise<Answer['body']> =>
  expectStatus(200, await app.read(token, `/api/v1/${path}`)).body;
const rowsOf = async (category: string): Promise<unknown[][]> => {
  const { data } = await read(`health-data/${category}`);
  return data.map((row: Record<string, unknown>) =>
    ['type', 'value', 'unit', 'source'].map((name) => row[name]),
  );
};

// Tests of one file run in order; each one below builds on the one before.
describe('phds import apple', () => {
  test('stores valid data and explains why it refuses the rest', async () => {
    const report = await importApple('export.zip', ARCHIVE);
    expect(report).toMatchObject({ ok: true, error: null, user: USER, refusedCount: 2 });
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
    expect((await read('symptoms')).data).toMatchObject([
      { description: 'Headache', severity: 'mild', timestamp: '2024-01-04T23:00:00.000Z' },
    ]);
  });

  test("stores the phone's personal data in the profile, and the time zone that days are based on", async () => {
    expect((await read('profile')).data).toMatchObject({
      gender: 'female',
      dateOfBirth: '1990-05-20',
      bloodType: 'O-',
    });
    expect((await read('aggregations')).data.timeZone).toBe('Europe/Oslo');
    // 08:30 in Tokyo is 00:30 in Oslo.
    expect((await read('weight')).data).toMatchObject([{ weightKg: 69.99, date: '2024-01-05' }]);
  });

  test('changes nothing when the same export is imported again', async () => {
    const report = await importApple('again.zip', ARCHIVE);
    expect(report.stored).toEqual({ inserted: 0, updated: 0, unchanged: 11 });
  });

  test('stores nothing about who the person is or where they have been', async () => {
    for (const { name, text } of [...(await readTables(stack)), ...(await readLogs(stack))]) {
      expect([name, /Nora|Skarphagen|59\.9138/.exec(text)?.[0]]).toEqual([name, undefined]);
    }
  });

  test('refuses a truncated archive and stores nothing of it', async () => {
    const changed = XML.replace('71.6', '66');
    const archive = toZip([{ name: 'export.xml', content: changed }]).subarray(0, -10);
    await expect(importApple('cut.zip', archive)).rejects.toMatchObject({ code: 1 });
    expect((await rowsOf('heart')).at(-1)).toEqual(['Heart Rate', 72, '/min', 'apple-watch']);
  });
});
