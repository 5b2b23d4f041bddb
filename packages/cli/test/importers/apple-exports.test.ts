import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { device, element, exportXml, metadata, recordXml } from '@phds/test-kit/apple-exports';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { toQuotingZip, toZip, type ZipMember } from '@phds/test-kit/zip-files';
import { openExport } from '../../src/importers/apple/export-source.ts';
import { appleImporter } from '../../src/importers/apple/importer.ts';
import { ARCHIVE_LIMITS } from '../../src/importers/archive/zip-archive.ts';
import { collect, expectResumable } from './collected-items.ts';

const XML = exportXml(recordXml());
const EXPORT: ZipMember = { name: 'apple_health_export/export.xml', content: XML };

let files: FilesOfTest;

beforeEach(() => {
  files = openFilesOfTest();
});

afterEach(() => {
  files[Symbol.dispose]();
});

/** Opens an archive and reads its XML. Rejects with UnusableFile. */
async function readXml(archive: Uint8Array, limits = ARCHIVE_LIMITS): Promise<string> {
  using source = await openExport(files.write('export.zip', archive), limits);
  const chunks: Buffer[] = [];
  for await (const chunk of source.xml.read()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('an archive', () => {
  test.each([
    ['deflated', EXPORT],
    ['stored', { ...EXPORT, method: 0 }],
    ['with 64-bit sizes', { ...EXPORT, zip64: true }],
    ['without a folder', { ...EXPORT, name: 'export.xml' }],
    ['in two folders', { ...EXPORT, name: 'Downloads/apple_health_export/export.xml' }],
    ['in Spanish', { ...EXPORT, name: 'apple_health_export/exportación.xml' }],
    ['in German', { ...EXPORT, name: 'apple_health_export/Export.xml' }],
    ['in Chinese', { ...EXPORT, name: 'apple_health_export/导出.xml' }],
  ])('%s yields its export', async (_name, member) => {
    expect(await readXml(toZip([member]))).toBe(XML);
  });

  test('an archive yields its recordings and the number of unread files', async () => {
    const archive = toZip([
      { name: 'apple_health_export/', content: '' },
      { name: 'apple_health_export/export_cda.xml', content: '<ClinicalDocument/>' },
      EXPORT,
      { name: 'apple_health_export/electrocardiograms/ecg_2024-01-05.csv', content: 'Name,Jo' },
      { name: 'apple_health_export/workout-routes/route_2024-01-05.gpx', content: '<gpx/>' },
      { name: 'apple_health_export/workout-routes/route_2024-01-06.gpx', content: '<gpx/>' },
      { name: 'apple_health_export/clinical-records/Condition-1.json', content: '{}' },
      { name: '__MACOSX/apple_health_export/._export.xml', content: 'x' },
    ]);
    using source = await openExport(files.write('export.xml', archive));
    expect(source.xml.name).toBe(EXPORT.name);
    expect(source.ecgs.map(({ name }) => name)).toEqual([
      'apple_health_export/electrocardiograms/ecg_2024-01-05.csv',
    ]);
    expect(Object.fromEntries(source.unread)).toEqual({ cda: 1, route: 2, other: 1 });
    expect(source.clinical.map(({ size }) => size)).toEqual([2]);
  });

  test('with several XML files gives the one that is an export', async () => {
    const other = { name: 'apple_health_export/other.xml', content: '<ClinicalDocument/>' };
    expect(await readXml(toZip([other, EXPORT]))).toBe(XML);
    await expect(readXml(toZip([other, { ...other, name: 'a.xml' }]))).rejects.toThrow(
      'contains no export.xml.',
    );
    const second = { ...EXPORT, name: 'apple_health_export/exportar.xml' };
    await expect(readXml(toZip([EXPORT, second]))).rejects.toThrow('contains more than one export.');
  });
});

// A phone's records reach a ratio of 36; records that differ only in their times reach 55.
test('an export that compresses better than any real one, by a factor of more than 50, is read', async () => {
  const watch = device({ name: 'Apple Watch', manufacturer: 'Apple Inc.', model: 'Watch', software: '10.2' });
  const details = [
    metadata('HKMetadataKeyHeartRateMotionContext', '0'),
    metadata('HKMetadataKeySyncVersion', '1'),
  ];
  const records = Array.from({ length: 12_000 }, (_, index) => {
    const at = new Date(Date.UTC(2024, 0, 1) + index * 5_000).toISOString();
    const date = `${at.slice(0, 10)} ${at.slice(11, 19)} +0000`;
    const times = { creationDate: date, startDate: date, endDate: date };
    return recordXml({ ...times, device: watch }, ...details);
  });
  const xml = exportXml(...records);
  const archive = toZip([{ ...EXPORT, content: xml }]);
  expect(xml.length).toBeGreaterThan(ARCHIVE_LIMITS.smallBytes);
  expect(xml.length / archive.length).toBeGreaterThan(50);
  expect(await readXml(archive)).toBe(xml);
});

describe('a hostile or damaged archive is refused:', () => {
  const encrypted = 0x801;
  const bomb: ZipMember = { name: 'export.xml', content: Buffer.alloc(5 * 1024 * 1024, ' ') };
  test.each<[string, readonly ZipMember[], string]>([
    ['nothing in it', [], 'contains no export.xml'],
    ['another archive', [{ name: 'photo.jpg', content: 'x' }], 'contains no export.xml'],
    ['an export too deep', [{ ...EXPORT, name: 'a/b/c/export.xml' }], 'contains no export.xml'],
    ['the export twice', [EXPORT, EXPORT], 'contains a file twice'],
    [
      'a path that leads out',
      [EXPORT, { name: '../../etc/cron.d/x', content: 'x' }],
      'a name that points outside it',
    ],
    ['a Windows path', [{ name: '..\\..\\export.xml', content: XML }], 'a name that points outside it'],
    ['an absolute path', [EXPORT, { name: '/etc/passwd', content: 'x' }], 'a name that points outside it'],
    ['a symbolic link', [{ ...EXPORT, content: '/etc/passwd', mode: 0o120777 }], 'contains a symbolic link'],
    ['encryption', [{ ...EXPORT, flags: encrypted }], 'is encrypted'],
    ['an unknown method', [{ ...EXPORT, method: 12 }], 'uses an unsupported compression method'],
    ['a size too small', [{ ...EXPORT, statedSize: 100 }], 'a different size than stated'],
    ['a size too large', [{ ...EXPORT, statedSize: 10_000 }], 'a different size than stated'],
    [
      'a packed size too large',
      [EXPORT, { name: '1.csv', content: 'x', statedPackedSize: 10_000 }],
      'damaged or cut off',
    ],
    ['a wrong checksum', [{ ...EXPORT, statedChecksum: 1 }], 'its checksum is wrong'],
    ['nonsense for content', [{ ...EXPORT, packed: Buffer.alloc(100, 0xff) }], 'damaged or cut off'],
    ['a bomb', [bomb], 'A file of the zip archive grows more than 100 times when it is unpacked'],
    ['a bomb that hides its size', [{ ...bomb, statedSize: 1000 }], 'a different size than stated'],
  ])('%s', async (_name, members, message) => {
    // The content is not asserted, because a bomb is too large to print.
    const outcome = await readXml(toZip(members)).then(() => 'was read', String);
    expect(outcome).toContain(message);
  });

  test('a bomb that hides its size is refused as soon as it exceeds the stated size', async () => {
    using source = await openExport(files.write('export.zip', toZip([{ ...bomb, statedSize: 100_000 }])));
    let bytes = 0;
    const readAll = async () => {
      for await (const chunk of source.xml.read()) bytes += chunk.length;
    };
    await expect(readAll()).rejects.toThrow('a different size than stated');
    expect(bytes).toBeLessThanOrEqual(100_000);
  });

  test('a file beyond the limits', async () => {
    const limits = { ...ARCHIVE_LIMITS, entries: 2, totalBytes: 1024 * 1024 };
    await expect(readXml(toZip([EXPORT, EXPORT, EXPORT]), limits)).rejects.toThrow('has more than 2 entries');
    const recording = { name: 'ecg.csv', content: ' '.repeat(1024 * 1024 - Buffer.byteLength(XML)) };
    expect(await readXml(toZip([EXPORT, recording]), limits)).toBe(XML);
    const larger = { ...recording, content: `${recording.content} ` };
    await expect(readXml(toZip([EXPORT, larger]), limits)).rejects.toThrow(
      'The zip archive is larger than 1 MB when it is unpacked.',
    );
  });

  test('many small bombs that each pass the limits of a single file', async () => {
    const recordings = ['1', '2', '3'].map((number) => ({
      name: `${number}.csv`,
      content: Buffer.alloc(2 * 1024 * 1024, ' '),
    }));
    expect(await readXml(toZip([EXPORT, recordings[0] as ZipMember]))).toBe(XML);
    await expect(readXml(toZip([EXPORT, ...recordings]))).rejects.toThrow(
      'The zip archive grows more than 100 times when it is unpacked.',
    );
  });

  test('files that share bytes, whichever of them would be read', async () => {
    const first = { name: '1.csv', content: 'x' };
    const overlap = 'The zip archive contains overlapping files.';
    await expect(
      readXml(toZip([first, EXPORT, { ...first, name: '2.csv', sharesFirst: true }])),
    ).rejects.toThrow(overlap);
    await expect(
      readXml(toZip([first, EXPORT, { ...first, name: '2.gpx', sharesFirst: true }])),
    ).rejects.toThrow(overlap);
    await expect(readXml(toQuotingZip(['export.xml', '1.csv', '2.csv'], Buffer.from(XML)))).rejects.toThrow(
      overlap,
    );
  });

  test('a name over the limit, even of a file that is never read', async () => {
    const ending = '/route.gpx';
    const longest = `${'é'.repeat((1024 - ending.length) / 2)}${ending}`;
    const archive = (name: string) => toZip([EXPORT, { name, content: 'x' }]);
    expect(await readXml(archive(longest))).toBe(XML);
    await expect(readXml(archive(`x${longest}`))).rejects.toThrow('contains a name longer than 1,024 bytes.');
  });

  test('cut off anywhere', async () => {
    const archive = toZip([EXPORT, { name: 'b.csv', content: 'x' }]);
    for (let length = 4; length < archive.length; length += 37) {
      await expect(readXml(archive.subarray(0, length))).rejects.toThrow('damaged or cut off');
    }
  });

  test('corruption at any position is reported as a fault of the file', async () => {
    const archive = toZip([EXPORT]);
    for (let at = 4; at < archive.length; at += 3) {
      const garbled = Buffer.from(archive);
      garbled.writeUInt8(garbled.readUInt8(at) ^ 0x55, at);
      const outcome = await readXml(garbled).catch((error: unknown) => error);
      if (outcome !== XML) expect(outcome).toMatchObject({ name: 'UnusableFile' });
    }
  });
});

const FOLDER = 'apple_health_export';

const path = (name: string) => `clinical-records/${name}.json`;

function json(name: string, content: object | string): ZipMember {
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
  return { name: `${FOLDER}/${path(name)}`, content: text };
}

/** Writes an archive with these clinical records. Elements of the XML give their versions. */
function toArchive(members: readonly ZipMember[], elements: readonly string[] = []) {
  const xml = { name: `${FOLDER}/export.xml`, content: exportXml(...elements) };
  return files.write('export.zip', toZip([xml, ...members]));
}

const importAll = (...content: Parameters<typeof toArchive>) =>
  collect(appleImporter, [toArchive(...content)]);

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

  test('that are repeated have one key, under which the last is stored, also when the import resumes', async () => {
    const archive = toArchive([json('a', condition), json('b', condition), json('c', pulse)]);
    const whole = await expectResumable(appleImporter, [archive]);
    expect(new Set(whole.records.map(({ key }) => key))).toEqual(new Set(['Condition/c1']));
  });
});

/** Large enough for several chunks; every hundredth heart rate repeats the first one. */
function largeExport(): string {
  const at = (index: number) =>
    `2024-01-${String(1 + (index % 28)).padStart(2, '0')} 10:${String(Math.trunc(index / 28) % 60).padStart(2, '0')}:00 +0100`;
  const records = Array.from({ length: 900 }, (_, index) => {
    const moment = at(index % 100 === 99 ? 0 : index);
    return recordXml(
      { sourceName: 'Zoë’s iPhone', value: String(60 + (index % 40)), startDate: moment, endDate: moment },
      metadata('note', 'x'.repeat(300)),
    );
  });
  return exportXml(
    element('Me', { HKCharacteristicTypeIdentifierBiologicalSex: 'HKBiologicalSexFemale' }),
    ...records,
  );
}

test('an export that is resumed from a position yields what an uninterrupted run yields after it', async () => {
  const recording = 'Datum,2024-01-05 10:00:00 +0100\n';
  const archive = toZip([
    { name: 'export.xml', content: largeExport() },
    { name: 'ecg_1.csv', content: recording },
    { name: 'ecg_2.csv', content: recording.replace('05', '06') },
    { name: 'route.gpx', content: '' },
  ]);
  // Repetitions are detected even if the first reading is before the position.
  const { positions } = await expectResumable(appleImporter, [files.write('export.zip', archive)]);
  expect(positions.length).toBeGreaterThan(5);
  expect(positions).toEqual([...new Set(positions)].toSorted((one, other) => one - other));
});

test('an element that ends at the position is before it', async () => {
  const [first, second] = [
    recordXml({ value: '1' }),
    recordXml({ value: '2', startDate: '2024-01-05 10:01:00 +0100' }),
  ];
  const path = files.write('export.xml', `<HealthData>${first}${second}</HealthData>`);
  const valuesFrom = async (from: number) =>
    (await collect(appleImporter, [path], { from })).readings.map(({ value }) => value);
  const end = '<HealthData>'.length + first.length;
  expect(await valuesFrom(end - 1)).toEqual([1, 2]);
  expect(await valuesFrom(end)).toEqual([2]);
});

test('the time zone is that of the newest sample that is not from the future', async () => {
  const sample = (year: string, zone: string) =>
    recordXml(
      { startDate: `${year}-01-05 10:00:00 +0100`, endDate: `${year}-01-05 10:00:00 +0100` },
      metadata('HKTimeZone', zone),
    );
  const xml = exportXml(
    sample('2022', 'Europe/Oslo'),
    sample('2023', 'America/New_York'),
    sample('2021', 'Asia/Tokyo'),
    sample('2024', 'Mars/Base'),
    sample('2025', '+01:00'),
    sample('9999', 'Asia/Tokyo'),
  );
  const zoneOf = async (content: string) => {
    const request = {
      paths: [files.write('export.xml', content)],
      patient: null,
      onChecked: () => undefined,
    };
    await using source = await appleImporter.open(request);
    return source.timeZone;
  };
  expect(await zoneOf(xml)).toBe('America/New_York');
  expect(await zoneOf(exportXml())).toBeNull();
});
