import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScalarType } from '@bufbuild/protobuf';
import { TimestampSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { HEALTH_RECORD_FIELDS } from '../../src/importers/csv/health-records.ts';
import { csvImporter } from '../../src/importers/csv/importer.ts';
import { type CollectOptions, collect } from './collected-items.ts';

const HEADER = 'type,start,end,value,unit,source\n';

async function importCsv(content: string | Uint8Array, options: CollectOptions = {}) {
  using files = openFilesOfTest();
  return await collect(csvImporter, [files.write('readings.csv', content)], options);
}

const heartRate = {
  type: 'Heart Rate',
  start: '2024-05-04T06:00:00Z',
  end: '2024-05-04T06:00:00Z',
  value: 72,
  unit: '/min',
  source: 'csv',
};

describe('a file with readings', () => {
  test('yields a reading for each line', async () => {
    const { readings, refused, leftOut } = await importCsv(
      `${HEADER}Heart Rate,2024-05-04T08:00:00+02:00,,72,/min,\nsleep deep,2024-05-04T01:00:00Z,2024-05-04T02:30:00Z,90,min,ring\n`,
    );
    expect(readings).toEqual([
      heartRate,
      {
        type: 'Sleep Deep',
        start: '2024-05-04T01:00:00Z',
        end: '2024-05-04T02:30:00Z',
        value: 90,
        unit: 'min',
        source: 'ring',
      },
    ]);
    expect({ refused, leftOut }).toEqual({ refused: [], leftOut: [] });
  });

  test.each([
    ['any order and case, some columns only', 'VALUE,Start,Type\n72,2024-05-04T06:00:00Z,HEART_RATE'],
    ['semicolons', 'type;start;value;unit\nHeart Rate;2024-05-04T06:00:00Z;72;/min'],
    ['tabs', 'type\tstart\tvalue\tunit\nHeart Rate\t2024-05-04T06:00:00Z\t72\t/min'],
    ['a byte order mark and CRLF', '\ufefftype,start,value\r\nheart-rate,2024-05-04T06:00:00Z,72\r\n'],
    ['quotes everywhere', '"type","start","value"\n"Heart Rate","2024-05-04T06:00:00Z","72"'],
    [
      "Excel's line with the separator before it",
      '\ufeffsep=;\r\ntype;start;value\nHeart Rate;2024-05-04T06:00:00Z;72',
    ],
    ['an empty line before it', '\n\ntype,start,value\nHeart Rate,2024-05-04T06:00:00Z,72'],
  ])('accepts a header with %s', async (_, text) => {
    const { readings, refused } = await importCsv(text);
    expect(refused).toEqual([]);
    expect(readings).toEqual([{ ...heartRate, unit: expect.any(String) }]);
  });

  test.each([
    ['2024-05-04T08:00:00.250+02:00', '2024-05-04T06:00:00.250Z'],
    ['2024-05-04 08:00 +0200', '2024-05-04T06:00:00Z'],
    ['2024-05-03t23:30:00-06:30', '2024-05-04T06:00:00Z'],
    ['2024-02-29', '2024-02-29T00:00:00Z'],
  ])('parses the time %s', async (text, expected) => {
    const { readings } = await importCsv(`type,start,value\nSteps,${text},1`);
    expect(readings[0]?.start).toBe(expected);
  });

  test('accepts a decimal comma where a comma is not the delimiter', async () => {
    const { readings, refused } = await importCsv(
      'type;start;value\nWeight;2024-05-04;72,5\nWeight;2024-05-05;72.25\nSteps;2024-05-04;1,250',
    );
    expect(readings.map(({ value }) => value)).toEqual([72.5, 72.25]);
    expect(refused).toEqual(['line: value has a comma that may mean thousands or decimals (line 4)']);
  });

  test('accepts an ECG without a heart rate, and no other reading without a value', async () => {
    const { readings, refused } = await importCsv('type,start,value\nECG,2024-05-04,\nSteps,2024-05-04,');
    expect(readings).toMatchObject([{ type: 'ECG', value: null }]);
    expect(refused).toEqual(['line: value is missing (line 3)']);
  });
});

describe('lines that are refused', () => {
  test.each([
    ['Pulse,2024-05-04,,72,,', 'type is not known'],
    ['Steps,,,72,,', 'start is not a time such as 2024-05-04T08:00:00Z'],
    ['Steps,04.05.2024,,72,,', 'start is not a time such as 2024-05-04T08:00:00Z'],
    ['Steps,2024-05-04T08:00,,72,,', 'start has no offset such as Z or +02:00'],
    ['Steps,2024-05-04T08:00Z,2024-05-04T09:00,72,,', 'end has no offset such as Z or +02:00'],
    ['Steps,2024-02-30,,72,,', 'start is not in the calendar'],
    ['Steps,0001-01-01,,72,,', 'start is not in the calendar'],
    ['Steps,2024-05-04T24:00Z,,72,,', 'start is not in the calendar'],
    ['Steps,2024-05-04T08:00+25:00,,72,,', 'start has an offset that no clock has'],
    ['Steps,2024-05-04,,=70+2,,', 'value is not a number'],
    ['Steps,2024-05-04,,NaN,,', 'value is not a number'],
    ['Steps,2024-05-04,,72 bpm,,', 'value is not a number'],
    ['Steps,2024-05-04,,"72,5",,', 'value is not a number'],
    [`Steps,2024-05-04,,72,${'x'.repeat(41)},`, 'unit is longer than 40 characters'],
    [`Steps,2024-05-04,,72,,${'x'.repeat(41)}`, 'source is longer than 40 characters'],
    ['Steps,2024-05-04,,72', 'record has fewer fields than the header'],
  ])('%s', async (line, reason) => {
    const { readings, refused } = await importCsv(`${HEADER}${line}\nSteps,2024-05-04,,1,,\n`);
    expect(refused).toEqual([`line: ${reason} (line 2)`]);
    expect(readings).toHaveLength(1);
  });
});

describe('files that are refused', () => {
  test.each([
    ['an empty file', '', 'readings.csv is empty.'],
    [
      'data without a header',
      'Heart Rate,2024-05-04,72\n',
      'The first line is no header. For readings it is: type,start,end,value,unit,source. For records it begins with: record.',
    ],
    ['a column twice', 'type,start,value,Value\n', 'The header has the column value twice.'],
    [
      'an unknown column',
      'type,start,value,ned\n',
      'Column 4 of the header is not known. There are: type, start, end, value, unit, source.',
    ],
    ['a missing column', 'type,start,unit\n', 'The header lacks the column value.'],
    ['binary rubbish', Uint8Array.from([1, 0, 2, 3]), 'cannot be read: line holds a NUL byte.'],
    ['a million columns', `type${','.repeat(60_000)}`, 'has more than 200 columns.'],
    ['wrong quotes in the header', '"type,start,value\n', 'has wrong quotes.'],
    ['a doubled quote in the place of the last', '"type""\n', 'has wrong quotes.'],
    ['CR for line ends', 'type,start,value\rSteps,2024-05-04,1\r', 'ends its lines with CR only'],
  ])('%s', async (_, content, message) => {
    await expect(importCsv(content)).rejects.toThrow(message);
  });

  test('no message quotes the file, which may have no header', async () => {
    await expect(importCsv('type,Jane Doe,value\n')).rejects.not.toThrow('Jane');
  });

  test('a file is about one person', async () => {
    await expect(importCsv(HEADER, { patient: '1' })).rejects.toThrow('leave --patient out');
  });

  test('a directory or nothing', async () => {
    using files = openFilesOfTest();
    await expect(collect(csvImporter, [files.directory])).rejects.toThrow('is not a file');
    await expect(collect(csvImporter, [`${files.directory}/none.csv`])).rejects.toThrow(
      'There is no file none.csv.',
    );
  });
});

async function refusedOf(content: string) {
  return (await importCsv(content)).refused;
}

const at = timestampFromMs(Date.parse('2024-05-04T06:00:00Z'));
const time = '2024-05-04T08:00:00+02:00';

describe('a file with records', () => {
  test.each([
    [
      'symptom',
      `record,description,severity,timestamp\nsymptom,Headache,mild,${time}`,
      { case: 'symptom', value: { description: 'Headache', severity: 'mild', timestamp: at } },
    ],
    [
      'adherence',
      `record,medication,scheduledAt,status,takenAt,dose,reason\nadherence,m1,${time},taken,${time},1,`,
      {
        case: 'adherenceEntry',
        value: { medicationKey: 'm1', scheduledAt: at, status: 'taken', takenAt: at, dose: '1', reason: '' },
      },
    ],
    [
      'allergy',
      'record,name,severity,sinceDate\nallergy,"Peanut, roasted",severe,2019',
      { case: 'allergy', value: { name: 'Peanut, roasted', severity: 'severe', sinceDate: '2019' } },
    ],
    [
      'appointment',
      'record,title,dateTime,specialty,location\nappointment,Check-up,2030-01-02 09:30+01:00,Cardiology,',
      {
        case: 'appointment',
        value: {
          title: 'Check-up',
          dateTime: '2030-01-02T09:30:00+01:00',
          specialty: 'Cardiology',
          location: '',
        },
      },
    ],
    [
      'mood',
      `record,mood,note,timestamp\nmood,pleasant,"A walk,\nthen tea",${time}`,
      { case: 'moodEntry', value: { mood: 'pleasant', note: 'A walk,\nthen tea', timestamp: at } },
    ],
  ])('gives a %s', async (label, text, record) => {
    const { records, refused } = await importCsv(text);
    expect(refused).toEqual([]);
    expect(records).toEqual([{ label, key: '', source: 'csv', record }]);
  });

  test('may contain all kinds, with their own keys and sources', async () => {
    const { records, profile } = await importCsv(
      [
        'Record,Key,Source,Name,since_date,gender,blood type,date_of_birth',
        'condition,c1,my-app,Asthma,2019,,,',
        'allergy,,,Dust,,,,',
        'profile,,,Ada Lovelace,,female,A+,1815-12-10',
      ].join('\n'),
    );
    expect(records).toMatchObject([
      { label: 'condition', key: 'c1', source: 'my-app' },
      { label: 'allergy', key: '', source: 'csv' },
    ]);
    expect(profile).toEqual({
      name: 'Ada Lovelace',
      gender: 'female',
      bloodType: 'A+',
      dateOfBirth: '1815-12-10',
    });
  });

  test('yields the profile even when resuming after it', async () => {
    const text = 'record,name\nprofile,Ada\ncondition,Asthma\ncondition,Cough\nallergy,NKDA\n';
    const { records, leftOut, profile } = await importCsv(text, { from: text.indexOf('condition,Cough') });
    expect(leftOut).toEqual(['allergy: states that nothing is known']);
    expect(profile).toEqual({ name: 'Ada' });
    expect(records).toMatchObject([{ record: { value: { name: 'Cough' } } }]);
  });
});

describe('the columns of a record', () => {
  test('are those that the documentation lists', () => {
    const page = readFileSync(join(repositoryRoot, 'docs/operations/importing.md'), 'utf8');
    const lines = page.split('Columns by `record`')[1]?.matchAll(/^- (`.*`): (`.*)/gm) ?? [];
    const namesOf = (text = '') =>
      [...text.replaceAll(/\(.*?\)/g, '').matchAll(/`(.*?)`/g)].map(([, name]) => name);
    const listed = [...lines].flatMap(([, kinds, columns]) =>
      namesOf(kinds).map((kind) => [kind, namesOf(columns)]),
    );
    const ours = [...HEALTH_RECORD_FIELDS].map(([kind, fields]) => [kind, [...fields.keys()]]);
    expect(listed).toEqual([...ours, ['profile', ['name', 'gender', 'dateOfBirth', 'bloodType']]]);
  });

  test('are texts and times, which a cell can state', () => {
    const fields = [...HEALTH_RECORD_FIELDS.values()].flatMap((each) => [...each.values()]);
    const others = fields.filter(
      ({ fieldKind, scalar, message }) =>
        !(fieldKind === 'scalar' && scalar === ScalarType.STRING) && message !== TimestampSchema,
    );
    expect(others.map(String)).toEqual([]);
  });
});

describe('records that are refused', () => {
  const kinds = 'symptom, medication, adherence, condition, allergy, appointment, mood, report, ehr, profile';
  test.each([
    ['a kind that there is not', 'record,name\nconditions,Asthma', `record must be one of ${kinds}`],
    ['a name of Object', 'record,name\n__proto__,x', `record must be one of ${kinds}`],
    [
      'a text in a column of another kind',
      'record,name,mood\ncondition,Asthma,pleasant',
      'mood does not belong to a record of the kind condition',
    ],
    [
      'a time without offset',
      'record,description,timestamp\nsymptom,Headache,2024-05-04T08:00',
      'timestamp has no offset such as Z or +02:00',
    ],
    [
      'an appointment on a day',
      'record,title,dateTime\nappointment,x,2030-01-02',
      'dateTime has no time of day',
    ],
    [
      'a text that is too long',
      `record,name\ncondition,${'x'.repeat(4_001)}`,
      'name is longer than 4000 characters',
    ],
    ['a gender that there is not', 'record,gender\nprofile,F', 'gender of the profile is not valid'],
    [
      'a birth date of no calendar',
      'record,dateOfBirth\nprofile,2001-02-30',
      'dateOfBirth is not in the calendar',
    ],
    [
      'a blood type that there is not',
      'record,bloodType\nprofile,C+',
      'bloodType of the profile is not valid',
    ],
  ])('%s', async (_, text, reason) => {
    expect(await refusedOf(text)).toEqual([`line: ${reason} (line 2)`]);
  });
});
