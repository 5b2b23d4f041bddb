import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { device, exportXml, metadata, recordXml } from '@phds/test-kit/apple-exports';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { toQuotingZip, toZip, type ZipMember } from '@phds/test-kit/zip-files';
import { openExport } from '../../src/importers/apple/export-source.ts';
import { ARCHIVE_LIMITS } from '../../src/importers/archive/zip-archive.ts';

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
    ['in Spanish', { ...EXPORT, name: 'apple_health_export/exportación.xml' }],
    ['in German', { ...EXPORT, name: 'apple_health_export/Export.xml' }],
    ['in Chinese', { ...EXPORT, name: 'apple_health_export/导出.xml' }],
  ])('%s yields its export', async (_name, member) => {
    expect(await readXml(toZip([member]))).toBe(XML);
  });

  test('an archive is recognised by its content, not by its name', async () => {
    using source = await openExport(files.write('renamed.xml', toZip([EXPORT])));
    expect(source.xml.name).toBe(EXPORT.name);
    using plain = await openExport(files.write('renamed.zip', XML));
    expect(plain.xml.size).toBe(Buffer.byteLength(XML));
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

// A phone's records reach a ratio of 36; records that differ only in their times reach 55 (docs/decisions/0013).
test('an export that compresses better than any real one, by a factor of more than 50, is read', async () => {
  const watch = device({ name: 'Apple Watch', manufacturer: 'Apple Inc.', model: 'Watch', software: '10.2' });
  const details = [
    metadata('HKMetadataKeyHeartRateMotionContext', '0'),
    metadata('HKMetadataKeySyncVersion', '1'),
  ];
  const records = Array.from({ length: 60_000 }, (_, index) => {
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
  const bomb: ZipMember = { name: 'export.xml', content: Buffer.alloc(20 * 1024 * 1024, ' ') };
  test.each<[string, readonly ZipMember[], string]>([
    ['nothing in it', [], 'contains no export.xml'],
    ['another archive', [{ name: 'photo.jpg', content: 'x' }], 'contains no export.xml'],
    ['an export too deep', [{ ...EXPORT, name: 'a/b/export.xml' }], 'contains no export.xml'],
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

test.each([
  ['nothing', '', 'The file is empty.'],
  ['gzip', Buffer.from([0x1f, 0x8b, 8, 0]), 'compressed with gzip'],
])('a file of %s is refused by kind', async (_name, content, message) => {
  await expect(openExport(files.write('export.xml', content))).rejects.toThrow(message);
});

test('a missing file and a directory are reported', async () => {
  await expect(openExport('/nowhere/export.zip')).rejects.toThrow('There is no file export.zip.');
  await expect(openExport('/')).rejects.toMatchObject({ name: 'UnusableFile' });
});
