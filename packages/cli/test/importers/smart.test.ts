import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { toZip, type ZipMember } from '@phds/test-kit/zip-files';
import { smartImporter } from '../../src/importers/smart/importer.ts';
import { TABLES, type TableName } from '../../src/importers/smart/tables.ts';
import {
  type CollectedItems,
  type CollectOptions,
  collect,
  countOf,
  expectResumable,
} from './collected-items.ts';

type Rows = readonly Readonly<Record<string, string>>[];
/** Tables by name: rows, or the text of the file. */
type TableContent = { readonly [Name in TableName]?: Rows | string };

/** A table with all the columns that are used, and some others. */
function toTable(name: TableName, rows: Rows): string {
  const columns = ['EMAIL', ...TABLES[name].required, ...TABLES[name].optional, 'GENDER'];
  const lines = rows.map((row) => columns.map((column) => row[column] ?? '').join('\t'));
  return `${[columns.join('\t'), ...lines].join('\n')}\n`;
}

/** Writes tables. Returns their directory. */
function writeTables(files: FilesOfTest, content: TableContent): string {
  for (const [name, rows] of Object.entries(content)) {
    files.write(`${name}.txt`, typeof rows === 'string' ? rows : toTable(name as TableName, rows));
  }
  return files.directory;
}

async function importTables(content: TableContent, options: CollectOptions = {}): Promise<CollectedItems> {
  using files = openFilesOfTest();
  return await collect(smartImporter, [writeTables(files, content)], options);
}

const person = {
  PID: '7',
  fname: 'Ada',
  initial: 'K',
  lname: 'Lovelace',
  gender: 'female',
  dob: '1815-12-10',
};
const moment = { start: '2007-04-18T13:32:00Z', end: '2007-04-18T13:32:00Z', source: 'ehr' };

describe('the tables of one patient', () => {
  test('yield the profile', async () => {
    const { profile } = await importTables({ patients: [person] });
    expect(profile).toEqual({ name: 'Ada K Lovelace', gender: 'female', dateOfBirth: '1815-12-10' });
  });

  test('yield a reading for every vital sign', async () => {
    const row = {
      ID: '1',
      PID: '7',
      TIMESTAMP: '2007-04-18T13:32:00',
      HEART_RATE: '60',
      RESPIRATORY_RATE: '18',
      TEMPERATURE: '36.88889',
      WEIGHT: '87',
      HEIGHT: '197.5',
      BMI: '22.3',
      SYSTOLIC: '121',
      DIASTOLIC: '62',
      OXYGEN_SATURATION: '98',
      HEAD_CIRCUMFERENCE: '51.2',
    };
    const { readings, records, refused } = await importTables({ vitals: [row] });
    expect(readings).toEqual([
      { type: 'Heart Rate', value: 60, unit: '/min', ...moment },
      { type: 'Respiratory', value: 18, unit: '/min', ...moment },
      { type: 'Temperature', value: 36.88889, unit: 'Cel', ...moment },
      { type: 'Weight', value: 87, unit: 'kg', ...moment },
      { type: 'Height', value: 197.5, unit: 'cm', ...moment },
      { type: 'BMI', value: 22.3, unit: 'kg/m2', ...moment },
      { type: 'Blood Pressure', value: 121, unit: 'mm[Hg]', ...moment },
      { type: 'BP Diastolic', value: 62, unit: 'mm[Hg]', ...moment },
      { type: 'SPO2', value: 98, unit: '%', ...moment },
    ]);
    expect(records).toMatchObject([
      {
        key: 'Observation/smart-7-1-9843-4',
        record: { value: { resourceType: 'Observation', summary: 'Head circumference: 51.2 cm' } },
      },
    ]);
    expect(refused).toEqual([]);
  });

  test.each([
    ['1998-02-19', '1998-02-19T00:00:00Z'],
    ['2007-04-18T13:32', '2007-04-18T13:32:00Z'],
    ['2014-08-04T04:20:00Z', '2014-08-04T04:20:00Z'],
  ])('accept the time %s', async (text, start) => {
    const { readings } = await importTables({ vitals: [{ PID: '7', TIMESTAMP: text, HEART_RATE: '60' }] });
    expect(readings).toMatchObject([{ start }]);
  });

  test('yield conditions and allergies', async () => {
    const { records, leftOut } = await importTables({
      problems: [
        { ID: '3', PID: '7', START_DATE: '2007-05-23', SNOMED: '195967001', NAME: '"Asthma, mild"' },
      ],
      allergies: [
        { ID: '1', PID: '7', STATEMENT: 'negative', ALLERGEN: 'No known allergies', START_DATE: '2000' },
        {
          ID: '2',
          PID: '7',
          STATEMENT: 'positive',
          ALLERGEN: 'peanut',
          START_DATE: '2000',
          SEVERITY: 'severe',
        },
      ],
    });
    expect(records).toEqual([
      {
        label: 'condition',
        key: 'Condition/smart-7-3',
        source: 'ehr',
        record: { case: 'condition', value: { name: 'Asthma, mild', severity: '', sinceDate: '2007-05-23' } },
      },
      {
        label: 'allergy',
        key: 'AllergyIntolerance/smart-7-2',
        source: 'ehr',
        record: { case: 'allergy', value: { name: 'peanut', severity: 'severe', sinceDate: '2000' } },
      },
    ]);
    expect(leftOut).toEqual(['allergies: states that there is no allergy']);
  });

  test.each([
    [
      {
        SIG: '1 bid',
        Q_TO_TAKE_VALUE: '1',
        Q_TO_TAKE_UNIT: '{tablet}',
        FREQUENCY_VALUE: '2',
        FREQUENCY_UNIT: '/d',
      },
      { dosage: '1 tablet', frequency: '2 times a day', pattern: 'BID' },
    ],
    [
      {
        SIG: '1 weekly',
        Q_TO_TAKE_VALUE: '1',
        Q_TO_TAKE_UNIT: '{tablet}',
        FREQUENCY_VALUE: '1',
        FREQUENCY_UNIT: '/wk',
      },
      { dosage: '1 tablet', frequency: 'once a week', pattern: 'WK' },
    ],
    [
      {
        SIG: '5 mL q6h prn cough',
        Q_TO_TAKE_VALUE: '5',
        Q_TO_TAKE_UNIT: 'mL',
        FREQUENCY_VALUE: '4',
        FREQUENCY_UNIT: '/d',
      },
      { dosage: '5 mL', frequency: '4 times a day as needed', pattern: 'PRN' },
    ],
    [{ SIG: '1 tab po qd' }, { dosage: '1 tab po qd', frequency: 'once a day', pattern: 'QD' }],
    [
      { SIG: '1 capsule qd-bid for pain' },
      { dosage: '1 capsule qd-bid for pain', frequency: '', pattern: '' },
    ],
    [{ SIG: 'taper as directed' }, { dosage: 'taper as directed', frequency: '', pattern: '' }],
    [{}, { dosage: '', frequency: '', pattern: '' }],
  ])('yield medications with dosage and rhythm: %j', async (row, expected) => {
    const { records } = await importTables({ meds: [{ ID: '1', PID: '7', Name: 'Medicine', ...row }] });
    expect(records).toMatchObject([
      {
        key: 'MedicationRequest/smart-7-1',
        record: { case: 'medication', value: { name: 'Medicine', ...expected } },
      },
    ]);
  });

  test('yield refills as dispensed medications, with the names of the medications', async () => {
    const { records } = await importTables({
      meds: [{ ID: '1', PID: '7', RxNorm: '308135', Name: 'Amlodipine 10 MG' }],
      refills: [
        { ID: '1', PID: '7', DATE: '2008-08-22', RXN: '308135', DAYS: '90', Q: '90' },
        { ID: '2', PID: '7', DATE: '2008-10-28', RXN: '197885', DAYS: '0', Q: '0' },
        { ID: '3', PID: '7', DATE: '2008-10-28', RXN: '', DAYS: '30', Q: '30' },
      ],
    });
    const dispensed = (summary: string, day: string) => ({
      case: 'ehrRecord',
      value: {
        resourceType: 'MedicationDispense',
        summary,
        timestamp: timestampFromMs(Date.parse(`${day}T00:00:00Z`)),
      },
    });
    expect(records.slice(1).map(({ record }) => record)).toEqual([
      dispensed('Amlodipine 10 MG; dispensed; 90; for 90 days', '2008-08-22'),
      dispensed('RxNorm 197885; dispensed', '2008-10-28'),
    ]);
  });

  test('count repetitions once, and refuse contradictions', async () => {
    const row = { PID: '7', TIMESTAMP: '2009-12-23T12:54:00' };
    const { readings, leftOut, refused } = await importTables({
      vitals: [
        { ...row, HEIGHT: '180' },
        { ...row, HEIGHT: '180' },
        { ...row, HEIGHT: '190' },
      ],
    });
    expect(readings).toMatchObject([{ type: 'Height', value: 180 }]);
    expect(leftOut).toEqual(['Height: stated twice in the file']);
    expect(refused).toEqual([
      'Height: an earlier item in the file has another value for the same time (vitals.txt line 4)',
    ]);
  });
});

const other = { PID: '8', fname: 'Grace', lname: 'Hopper', gender: 'female', dob: '1906-12-09' };
describe('tables with several patients', () => {
  const both: TableContent = {
    patients: [person, other],
    problems: [
      { ID: '1', PID: '7', START_DATE: '2007', NAME: 'Asthma' },
      { ID: '2', PID: '8', START_DATE: '2008', NAME: 'Cough' },
    ],
    vitals: [{ PID: '9', TIMESTAMP: '2007-01-01', HEART_RATE: '60' }],
  };

  test('are not imported; the message lists the patients', async () => {
    await expect(importTables(both)).rejects.toThrow(
      'The tables are about 3 patients: choose one with --patient. There are 7, 8, 9.',
    );
  });

  test("yield the chosen patient's data", async () => {
    const items = await importTables(both, { patient: '8' });
    expect(items.records).toMatchObject([{ record: { value: { name: 'Cough' } } }]);
    expect(items.profile.name).toBe('Grace Hopper');
    expect(items.leftOut).toEqual([
      'patients: about another patient',
      'problems: about another patient',
      'vitals: about another patient',
    ]);
    expect(countOf(items)).toBe(4);
  });

  test('report when they do not contain the chosen patient', async () => {
    await expect(importTables(both, { patient: '1' })).rejects.toThrow('The tables have no patient 1.');
  });

  test('resume after a position and yield the profile again', async () => {
    using files = openFilesOfTest();
    await expectResumable(smartImporter, [writeTables(files, both)], { patient: '8' });
  });
});

describe('invalid tables', () => {
  test('rows are refused one by one', async () => {
    const row = { PID: '7', TIMESTAMP: '2007-04-18' };
    const { readings, refused, leftOut } = await importTables({
      patients: [{ ...person, gender: 'x', dob: '1815' }],
      problems: [
        { PID: '', NAME: 'Nobody' },
        { PID: '7', NAME: '' },
      ],
      vitals: [
        { ...row, HEART_RATE: '=1+1', WEIGHT: '87' },
        { ...row, TIMESTAMP: '18.4.2007', HEART_RATE: '60' },
        { ...row },
        { ...row, TIMESTAMP: '', HEART_RATE: '60' },
      ],
    });
    expect(readings).toMatchObject([{ type: 'Weight' }]);
    expect(refused).toEqual([
      'Patient: gender is not an administrative gender (patients.txt line 2)',
      'Patient: date of birth is not a full date (patients.txt line 2)',
      'problems: PID is missing (problems.txt line 2)',
      'Condition: name is missing (problems.txt line 3)',
      'vitals: HEART_RATE is not a number (vitals.txt line 2)',
      'Observation: date is not a FHIR date (vitals.txt line 3)',
      'Observation: date is missing (vitals.txt line 5)',
    ]);
    expect(leftOut).toEqual(['vitals: holds no measurement that is imported']);
  });

  test('unusable lines are refused and the others are read', async () => {
    const header = 'PID\tNAME\tSTART_DATE\n';
    const { records, refused, leftOut } = await importTables({
      problems: `${header}7\tAsthma\t2007\n7\t"Cough\t2007\n7\tPain\n\n7\tFever\t2008\textra\n7\tAch\0e\t2007\n7\tRash\t20`,
    });
    expect(records).toMatchObject([{ record: { value: { name: 'Asthma' } } }]);
    expect(leftOut).toEqual(['problems: empty']);
    expect(refused).toEqual([
      'problems: a quote is not closed (problems.txt line 3)',
      'problems: record has fewer fields than the header (problems.txt line 4)',
      'problems: record has more fields than the header (problems.txt line 6)',
      'problems: line holds a NUL byte (problems.txt line 7)',
      'Condition: date is not a FHIR date (problems.txt line 8)',
    ]);
  });

  test.each<[string, TableContent, string]>([
    ['a column that is missing', { vitals: 'ID\tPID\n' }, 'The header of vitals.txt lacks TIMESTAMP.'],
    ['a column twice', { meds: 'PID\tName\tName\n' }, 'The header of meds.txt has a column twice.'],
    ['an empty table', { meds: '' }, 'meds.txt is empty.'],
    ['binary rubbish', { meds: '\0\u0001\n' }, 'line holds a NUL byte'],
    ['no rows', { meds: [] }, 'The tables have no patient.'],
    ['no tables', {}, 'None of the tables is there: patients.txt, problems.txt'],
  ])('%s is named', async (_, content, message) => {
    await expect(importTables(content)).rejects.toThrow(message);
  });

  test('a single file is not enough', async () => {
    using files = openFilesOfTest();
    const file = files.write('vitals.txt', toTable('vitals', []));
    await expect(collect(smartImporter, [file])).rejects.toThrow('name the directory or zip archive');
  });
});

describe('tables in a zip archive', () => {
  const condition = toTable('problems', [{ ID: '1', PID: '7', START_DATE: '2007', NAME: 'Asthma' }]);
  const patients = toTable('patients', [person]);

  async function importZip(members: readonly ZipMember[]) {
    using files = openFilesOfTest();
    return await collect(smartImporter, [files.write('tables.zip', toZip(members))]);
  }

  test('are read in the same order, whatever else the archive contains', async () => {
    const { records, profile, refused } = await importZip([
      { name: 'data/problems.txt', content: condition },
      { name: '__MACOSX/data/problems.txt', content: 'x' },
      { name: 'data/labs.txt', content: 'x' },
      { name: 'data/patients.txt', content: patients },
    ]);
    expect(records).toMatchObject([{ record: { value: { name: 'Asthma' } } }]);
    expect(profile.name).toBe('Ada K Lovelace');
    expect(refused).toEqual([]);
  });

  test.each<[string, ZipMember[], string]>([
    ['no tables', [{ name: 'labs.txt', content: 'x' }], 'None of the tables is there'],
    [
      'a table twice',
      [
        { name: 'a/problems.txt', content: condition },
        { name: 'b/problems.txt', content: condition },
      ],
      'The zip archive holds problems.txt twice.',
    ],
    [
      'a table that overlaps another file',
      [
        { name: 'labs.txt', content: condition },
        { name: 'problems.txt', content: condition, sharesFirst: true },
      ],
      'The zip archive contains overlapping files.',
    ],
  ])('%s is named', async (_, members, message) => {
    await expect(importZip(members)).rejects.toThrow(message);
  });
});
