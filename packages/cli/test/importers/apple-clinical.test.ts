import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { element, exportXml } from '@phds/test-kit/apple-exports';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { toZip, type ZipMember } from '@phds/test-kit/zip-files';
import { appleImporter } from '../../src/importers/apple/importer.ts';
import { collect } from './collected-items.ts';

const FOLDER = 'apple_health_export';

let files: FilesOfTest;

beforeEach(() => {
  files = openFilesOfTest();
});

afterEach(() => {
  files[Symbol.dispose]();
});

const path = (name: string) => `clinical-records/${name}.json`;

function json(name: string, content: object | string): ZipMember {
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
  return { name: `${FOLDER}/${path(name)}`, content: text };
}

/** Imports an archive with these clinical records. Elements of the XML give their versions. */
function importAll(members: readonly ZipMember[], elements: readonly string[] = [], from = 0) {
  const xml = { name: `${FOLDER}/export.xml`, content: exportXml(...elements) };
  return collect(appleImporter, [files.write('export.zip', toZip([xml, ...members]))], { from });
}

const subject = { reference: 'Patient/a' };
const condition = {
  resourceType: 'Condition',
  id: 'c1',
  subject,
  code: { text: 'Asthma' },
  onsetDateTime: '2019-05',
};
const request = {
  resourceType: 'MedicationRequest',
  id: 'm1',
  status: 'active',
  subject,
  medicationReference: { reference: 'Medication/x' },
};
const pulse = {
  resourceType: 'Observation',
  id: 'o1',
  status: 'final',
  // Another clinic has another id for the same person.
  subject: { reference: 'Patient/b' },
  code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
  effectiveDateTime: '2024-01-05T10:00:00+01:00',
  valueQuantity: { value: 61, code: '/min' },
};

describe('clinical records', () => {
  test('are mapped as in a bundle, with references between them', async () => {
    const items = await importAll([
      json('MedicationRequest-1', request),
      json('Medication-1', { resourceType: 'Medication', id: 'x', code: { text: 'Salbutamol' } }),
      json('Condition-1', condition),
      json('Observation-1', pulse),
    ]);
    expect(items.records.map(({ source, record }) => [source, record.case, record.value])).toMatchObject([
      ['ehr', 'medication', { name: 'Salbutamol' }],
      ['ehr', 'condition', { name: 'Asthma' }],
    ]);
    expect(items.readings).toMatchObject([{ type: 'Heart Rate', value: 61, source: 'ehr' }]);
    expect(items.refused).toEqual([]);
  });

  test('do not reveal who the person is', async () => {
    const items = await importAll([
      json('Patient-1', { resourceType: 'Patient', id: 'a', name: [{ text: 'Jo Doe' }], gender: 'male' }),
      json('Patient-2', { resourceType: 'Patient', id: 'b', name: [{ text: 'Doe, Jo' }] }),
    ]);
    expect(items.profile).toEqual({});
    expect(items.leftOut.filter((text) => text.startsWith('Patient'))).toHaveLength(2);
  });

  const born = (id: string, birthDate: string) =>
    json(`Patient-${id}`, { resourceType: 'Patient', id, birthDate });
  const me = element('Me', { HKCharacteristicTypeIdentifierDateOfBirth: '1984-05-06' });

  test.each<[string, string[], ZipMember[], string[]]>([
    [
      "the export's owner has another",
      [me],
      [born('a', '1984-05-06'), born('b', '2015-01-02')],
      ['Observation'],
    ],
    [
      'each clinic has another',
      [],
      [born('a', '1984-05-06'), born('b', '2015-01-02')],
      ['Condition', 'Observation'],
    ],
    ['all agree', [me], [born('a', '1984-05-06'), born('b', '1984')], []],
  ])('about a patient whose date of birth differs are refused: %s', async (_, elements, patients, types) => {
    const members = [json('Condition-1', condition), json('Observation-1', pulse), ...patients];
    const { refused } = await importAll(members, elements);
    expect(refused.map((text) => text.replace(/ \(.*/, ''))).toEqual(
      types.map((type) => `${type}: about somebody with another date of birth than the export's owner`),
    );
  });

  test('of another FHIR version are refused', async () => {
    const items = await importAll(
      [json('Condition-1', condition), json('Condition-2', { ...condition, id: 'c2' })],
      [
        element('ClinicalRecord', { fhirVersion: '1.0.2', resourceFilePath: `/${path('Condition-1')}` }),
        element('ClinicalRecord', { fhirVersion: '4.0.1', resourceFilePath: `/${path('Condition-2')}` }),
      ],
    );
    expect(items.records.map(({ key }) => key)).toEqual(['Condition/c2']);
    expect(items.refused).toEqual([`clinical record: is not FHIR R4 (${FOLDER}/${path('Condition-1')})`]);
  });

  test('that are unreadable are refused one by one', async () => {
    const { refused, records } = await importAll([
      json('a', '{"resourceType":'),
      json('b', '[]'),
      json('c', `${'['.repeat(200)}`),
      { ...json('d', condition), packed: Buffer.alloc(20, 0xff) },
      { ...json('e', `{"text":"${'x'.repeat(9_000_000)}"}`), method: 0 },
      json('f', condition),
    ]);
    expect(refused.map((text) => text.replace(/ \(.*/, ''))).toEqual([
      'clinical record: is not valid JSON',
      'clinical record: is not a FHIR resource',
      'clinical record: nests deeper than 100 levels',
      'clinical record: is damaged',
      'clinical record: is larger than 8 MB',
    ]);
    expect(records).toHaveLength(1);
  });

  test('that are repeated are stored once, even when the import resumes between them', async () => {
    const members = [json('a', condition), json('b', condition), json('c', pulse)];
    const whole = await importAll(members);
    expect(whole.leftOut).toContain('condition: stated twice in the file');
    for (const from of whole.positions) {
      const rest = await importAll(members, [], from);
      expect(rest.positions).toEqual(whole.positions.filter((position) => position > from));
      expect(rest.leftOut).toEqual(whole.leftOut.slice(whole.leftOut.length - rest.leftOut.length));
      expect(rest.records.length).toBe(from < (whole.positions[1] ?? 0) ? 1 : 0);
    }
  });
});
