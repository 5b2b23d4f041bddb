import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { Answer } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { CLINICAL_RESOURCES, type Resource, toBundle } from '../src/clinical-bundle.ts';
import { LIST_ROWS } from '../src/data-requests.ts';
import { runImport } from '../src/import-command.ts';

const USER = 'rosa';
const LISTS = LIST_ROWS.map(([path]) => path).filter((path) => !path.includes('{id}'));

let stack: SharedStack;
let directory: string;
let app: PartnerApp;
let token: string;

beforeAll(async () => {
  stack = await useSharedStack();
  directory = await mkdtemp(join(tmpdir(), 'phds-fhir-'));
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  token = (await app.connect(await signIn(stack, USER), SCOPE_NAMES)).accessToken;
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** Runs the command as a person would and returns its report. */
async function importFhir(name: string, content: string): Promise<Answer['body']> {
  const file = join(directory, name);
  await writeFile(file, content);
  return runImport(stack, ['fhir', file, '--user', USER]);
}

const read = async (path: string): Promise<Answer['body']> =>
  expectStatus(200, await app.read(token, `/api/v1/${path}`)).body.data;
const columns = (items: Record<string, unknown>[], ...names: string[]) =>
  items.map((item) => names.map((name) => item[name]));

/** Reads all data of the user. */
async function readEverything(): Promise<Record<string, unknown>> {
  const answers = await Promise.all(
    LISTS.map(async (path) => [path, expectStatus(200, await app.read(token, path)).body] as const),
  );
  return { ...Object.fromEntries(answers), profile: await read('profile') };
}

// Tests of one file run in order; each one below builds on the one before.
describe('phds import fhir', () => {
  test('stores valid data and explains why it refuses the rest', async () => {
    const report = await importFhir('rosa.json', toBundle(CLINICAL_RESOURCES));
    expect(report).toMatchObject({ ok: true, error: null, user: USER, refusedCount: 1 });
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

  test('is read back in the units and decimals of the interface, newest first', async () => {
    const rows = async (category: string) =>
      columns(await read(`health-data/${category}`), 'type', 'value', 'unit', 'timestamp', 'source');
    const [early, late] = ['2018-03-04T14:12:00.000Z', '2020-03-08T13:12:00.000Z'];
    expect(await rows('heart')).toEqual([
      ['Heart Rate', 81, '/min', late, 'ehr'],
      ['Heart Rate', 75, '/min', early, 'ehr'],
    ]);
    const pressures = await rows('blood-pressure');
    expect(pressures.map(([, , , timestamp]) => timestamp)).toEqual([late, late, early, early]);
    expect(new Set(pressures.map(String))).toEqual(
      new Set(
        [
          ['Blood Pressure', 121, 'mm[Hg]', late, 'ehr'],
          ['BP Diastolic', 79, 'mm[Hg]', late, 'ehr'],
          ['Blood Pressure', 118, 'mm[Hg]', early, 'ehr'],
          ['BP Diastolic', 76, 'mm[Hg]', early, 'ehr'],
        ].map(String),
      ),
    );
    expect(await rows('temperature')).toEqual([['Temperature', 37, 'Cel', late, 'ehr']]);
    expect(await rows('glucose')).toEqual([['Glucose', 99.1, 'mg/dL', late, 'ehr']]);
    expect(await rows('respiratory')).toEqual([['Respiratory', 14, '/min', late, 'ehr']]);
    const body = new Map(
      (await rows('body-composition')).map(([type, ...rest]) => [`${type} ${rest[2]}`, rest]),
    );
    expect(body).toEqual(
      new Map([
        [`Weight ${late}`, [72, 'kg', late, 'ehr']],
        [`BMI ${late}`, [25.3, 'kg/m2', late, 'ehr']],
        [`Weight ${early}`, [71.05, 'kg', early, 'ehr']],
        [`Height ${early}`, [168.8, 'cm', early, 'ehr']],
      ]),
    );
    expect(columns(await read('weight'), 'date', 'weightKg')).toEqual([
      ['2020-03-08', 72],
      ['2018-03-04', 71.05],
    ]);
  });

  test('converts the other resources to health records', async () => {
    expect(await read('profile')).toMatchObject({
      name: 'Rosa Mae Quinn',
      gender: 'female',
      dateOfBirth: '1971-05-09',
    });
    expect(columns(await read('conditions'), 'name', 'severity', 'sinceDate')).toEqual([
      ['Diabetes', null, '2015-11-02'],
      ['Hypertension', null, '2009-04'],
    ]);
    // Criticality is not severity.
    expect(columns(await read('allergies'), 'name', 'severity', 'sinceDate')).toEqual([
      ['Allergy to peanuts', null, '1973-08-11'],
    ]);
    expect(columns(await read('medications'), 'name', 'dosage', 'pattern')).toEqual([
      ['Metformin 500 MG', '1 tablet', 'BID'],
    ]);
    expect(columns(await read('appointments'), 'title', 'dateTime', 'specialty')).toEqual([
      ['Eye examination', '2027-02-03T10:30:00+01:00', 'Ophthalmology'],
    ]);
    const records: Record<string, string>[] = await read('ehr');
    const types = columns(records, 'resourceType').flat();
    expect(types.toSorted()).toEqual(['Encounter', 'Immunization', 'Observation']);
    expect(types.at(-1)).toBe('Immunization');
    const cholesterol = records.find(({ resourceType }) => resourceType === 'Observation');
    expect(cholesterol?.['summary']).toContain('Total Cholesterol');
  });

  test('changes nothing when the same file is imported again', async () => {
    const before = await readEverything();
    const report = await importFhir('again.json', toBundle(CLINICAL_RESOURCES));
    expect(report.stored).toMatchObject({ inserted: 0, updated: 0, unchanged: 21 });
    expect(await readEverything()).toEqual(before);
  });

  test('updates changed items in place', async () => {
    const before = await read('health-data/heart');
    const changed = CLINICAL_RESOURCES.map((resource) => correct(resource));
    const report = await importFhir('corrected.json', toBundle(changed));
    expect(report.stored).toMatchObject({ inserted: 0, updated: 1, unchanged: 20 });
    const after = await read('health-data/heart');
    expect(columns(after, 'value')).toEqual([[81], [66]]);
    expect(columns(after, 'id')).toEqual(columns(before, 'id'));
  });

  test('refuses a file that is not a bundle and stores nothing of it', async () => {
    const before = await readEverything();
    await expect(importFhir('broken.json', '{"resourceType": "Bundle", "entry": [')).rejects.toMatchObject({
      code: 1,
    });
    expect(await readEverything()).toEqual(before);
  });
});

/** The older heart rate is corrected. */
function correct(resource: Resource): Resource {
  const value = resource['valueQuantity'] as { value: number } | undefined;
  return value?.value === 74.6 ? { ...resource, valueQuantity: { ...value, value: 66 } } : resource;
}
