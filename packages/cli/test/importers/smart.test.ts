import { describe, expect, test } from '@jest/globals';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { toZip, type ZipMember } from '@phds/test-kit/zip-files';
import { smartImporter } from '../../src/importers/smart/importer.ts';
import { collect, countOf } from './collected-items.ts';
import { importTables, type TableContent, toTable } from './smart-tables.ts';

const person = {
  PID: '7',
  fname: 'Ada',
  initial: 'K',
  lname: 'Lovelace',
  gender: 'female',
  dob: '1815-12-10',
};
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
    const whole = await importTables(both, { patient: '8' });
    const rest = await importTables(both, { patient: '8', from: whole.positions[2] ?? 0 });
    expect(rest.leftOut).toEqual(['vitals: about another patient']);
    expect(rest.records).toEqual(whole.records);
    expect(rest.profile).toEqual(whole.profile);
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
      'a name that points outside it',
      [{ name: '../problems.txt', content: condition }],
      'The zip archive contains a name that points outside it.',
    ],
    [
      'a bomb',
      [{ name: 'problems.txt', content: Buffer.alloc(64 * 1024 * 1024) }],
      'grows more than 100 times',
    ],
    [
      'a table that overlaps another file',
      [
        { name: 'labs.txt', content: condition },
        { name: 'problems.txt', content: condition, sharesFirst: true },
      ],
      'The zip archive contains overlapping files.',
    ],
    [
      'a wrong checksum',
      [{ name: 'problems.txt', content: condition, statedChecksum: 1 }],
      'its checksum is wrong',
    ],
  ])('%s is named', async (_, members, message) => {
    await expect(importZip(members)).rejects.toThrow(message);
  });

  test('a file that is not a real archive is reported', async () => {
    using files = openFilesOfTest();
    const file = files.write('tables.zip', 'PK nothing');
    await expect(collect(smartImporter, [file])).rejects.toThrow('damaged or cut off');
  });
});
