import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { csvImporter } from '../../src/importers/csv/importer.ts';
import { type CollectOptions, collect } from './collected-items.ts';

async function importCsv(content: string, options: CollectOptions = {}) {
  using files = openFilesOfTest();
  return await collect(csvImporter, [files.write('records.csv', content)], options);
}

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
      'medication',
      'record,name,dosage,frequency,condition,pattern\nMedication,Ibuprofen,400 mg,twice a day,Pain,BID',
      {
        case: 'medication',
        value: {
          name: 'Ibuprofen',
          dosage: '400 mg',
          frequency: 'twice a day',
          condition: 'Pain',
          pattern: 'BID',
        },
      },
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
      'condition',
      'record;name;severity;sinceDate\ncondition;Asthma;;2019-05',
      { case: 'condition', value: { name: 'Asthma', severity: '', sinceDate: '2019-05' } },
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
    [
      'report',
      `record,generatedAt,from,to,summary\nreport,${time},2024-04-01,2024-04-30,Steady`,
      {
        case: 'report',
        value: { generatedAt: at, from: '2024-04-01', to: '2024-04-30', summary: 'Steady' },
      },
    ],
    [
      'ehr',
      `record,resourceType,summary,timestamp\nehr,Procedure,Cast removed,${time}`,
      {
        case: 'ehrRecord',
        value: { resourceType: 'Procedure', summary: 'Cast removed', timestamp: at },
      },
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
    const text = 'record,name\nprofile,Ada\ncondition,Asthma\ncondition,Cough\n';
    const { records, profile } = await importCsv(text, { from: text.indexOf('condition,Cough') });
    expect(profile).toEqual({ name: 'Ada' });
    expect(records).toMatchObject([{ record: { value: { name: 'Cough' } } }]);
  });

  test('keeps a text that looks like a formula unchanged', async () => {
    const { records } = await importCsv('record,name\ncondition,"=HYPERLINK(""http://x"")"');
    expect(records).toMatchObject([{ record: { value: { name: '=HYPERLINK("http://x")' } } }]);
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
