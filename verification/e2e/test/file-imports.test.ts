import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { Answer } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { CLINICAL_RESOURCES } from '../src/clinical-bundle.ts';
import { runImport } from '../src/import-command.ts';

let stack: SharedStack;
let directory: string;

beforeAll(async () => {
  stack = await useSharedStack();
  directory = await mkdtemp(join(tmpdir(), 'phds-files-'));
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
  test('stores readings in the units of the interface and explains why it refuses a line', async () => {
    const file = await write('readings.csv', [
      'type;start;value;unit;source',
      'Weight;2024-05-04T08:00:00+02:00;158,73;[lb_av];',
      'glucose;2024-05-04 06:00Z;5.5;mmol/L;meter',
      '',
      'Heart Rate;2024-05-04T06:00:00Z;900;bpm;',
      'Heart Rate;2024-05-04T06:00:00Z;72;furlong;',
      'Heart Rate;2024-05-04T06:00:00Z;72;bpm;Ada’s watch',
      'Pulse;2024-05-04T06:00:00Z;72;bpm;',
    ]);
    const report = await importTwice(['csv', file, '--user', 'carla']);
    expect(report.stored.inserted).toBe(2);
    expect(report.leftOut).toEqual([{ reason: 'empty', types: { line: 1 } }]);
    expect(columns(report.refused, 'type', 'reason', 'examples')).toEqual([
      ['Heart Rate', 'value is outside the plausible range 20 to 300 /min', ['line 5']],
      ['Heart Rate', 'unit cannot be converted to /min', ['line 6']],
      ['Heart Rate', 'source must be a label such as apple-watch, at most 40 characters', ['line 7']],
      ['line', 'type is not known', ['line 8']],
    ]);
    const read = await readerOf('carla');
    const columnsOf = async (category: string) =>
      columns(await read(`health-data/${category}`), 'type', 'value', 'unit', 'timestamp', 'source');
    expect(await columnsOf('body-composition')).toEqual([
      ['Weight', 72, 'kg', '2024-05-04T06:00:00.000Z', 'csv'],
    ]);
    expect(await columnsOf('glucose')).toEqual([
      ['Glucose', 99.1, 'mg/dL', '2024-05-04T06:00:00.000Z', 'meter'],
    ]);
    expect(await columnsOf('heart')).toEqual([]);
  });

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

describe('phds import fhir with NDJSON', () => {
  test('stores the same data as from a bundle', async () => {
    const lines = new Map<string, string[]>();
    for (const [index, resource] of CLINICAL_RESOURCES.entries()) {
      const text = JSON.stringify({ ...resource, id: `r${index}` }).replaceAll(
        /"reference":"urn:uuid:[^"]+"/g,
        '"reference":"Patient/r0"',
      );
      lines.set(resource.resourceType, [...(lines.get(resource.resourceType) ?? []), text]);
    }
    for (const [type, texts] of lines) await write(`export/${type}.ndjson`, texts);
    const report = await importTwice(['fhir', join(directory, 'export'), '--user', 'nadia']);
    expect(report.stored.inserted).toBe(13 + 8);
    expect(columns(report.refused, 'type', 'count')).toEqual([['Heart Rate', 1]]);
    const read = await readerOf('nadia');
    expect(await read('profile')).toMatchObject({ name: 'Rosa Mae Quinn' });
    expect(columns(await read('health-data/heart'), 'value')).toEqual([[81], [75]]);
    expect(await read('medications')).toMatchObject([{ name: 'Metformin 500 MG', pattern: 'BID' }]);
  });
});
