import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { openBundleFiles, toBundle } from '@phds/test-kit/bundle-files';
import { type BundleEntry, type BundleReaderOptions, readBundle } from '../../src/importers/fhir/bundle.ts';
import { UnusableFile } from '../../src/importers/ingest/importer.ts';

/** Reads a bundle. Returns all entries and the final error, if any. */
async function read(path: string, options: BundleReaderOptions = {}) {
  const entries: BundleEntry[] = [];
  try {
    for await (const entry of readBundle(path, options)) entries.push(entry);
    return { entries, error: null };
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    return { entries, error };
  }
}

async function readText(content: string | Uint8Array, options: BundleReaderOptions = {}) {
  using files = openBundleFiles();
  return await read(files.file(content), options);
}

const resources = [
  {
    resourceType: 'Patient',
    id: '1',
    name: [{ text: 'Zoë "Ω" 😀\\\u2028' }],
    empty: [{}, [], null, true, false],
  },
  { resourceType: 'Observation', id: '2', valueQuantity: { value: -1.5e-3, big: 12345678901 } },
];
const text = JSON.stringify(toBundle(resources));

describe('reading a bundle in chunks', () => {
  test.each([1, 2, 3, 7, 64, 100_000])('yields the same in chunks of %i bytes', async (chunkBytes) => {
    const { entries, error } = await readText(text, { chunkBytes });
    expect(error).toBeNull();
    expect(entries.map(({ resource }) => resource)).toEqual(resources);
    expect(entries.map(({ index, fullUrl }) => [index, fullUrl])).toEqual([
      [0, 'urn:uuid:1'],
      [1, 'urn:uuid:2'],
    ]);
  });

  test('finds the entries whatever surrounds them', async () => {
    const { entries, error } = await readText(
      `\ufeff{"meta":{"entry":[{"resource":{}}]},"entry":[{"resource":{"id":"1"},"link":[[[1]]]}],"total":1,"resourceType":"Bundle"} `,
    );
    expect(error).toBeNull();
    expect(entries.map(({ resource }) => resource)).toEqual([{ id: '1' }]);
  });

  test('accepts a bundle without entries', async () => {
    expect(await readText('{"resourceType":"Bundle","type":"searchset"}')).toEqual({
      entries: [],
      error: null,
    });
  });

  test('reports the number of bytes read', async () => {
    const seen: number[] = [];
    await readText(text, { chunkBytes: 100, onBytes: (bytes) => void seen.push(bytes) });
    expect(seen[0]).toBe(100);
    expect(seen.at(-1)).toBe(Buffer.byteLength(text));
  });

  test('refuses an entry over the limit and reads the next one', async () => {
    const large = { resourceType: 'Binary', data: ['x'.repeat(3_000), { deep: 'y'.repeat(3_000) }] };
    const all = JSON.stringify(toBundle([resources[0] ?? {}, large, resources[1] ?? {}]));
    const { entries } = await readText(all, { maxEntryBytes: 2_000, chunkBytes: 512 });
    expect(entries.map(({ index, problem }) => [index, problem])).toEqual([
      [0, ''],
      [1, 'entry is too large'],
      [2, ''],
    ]);
    expect(entries[2]?.resource).toEqual(resources[1]);
  });

  test('holds a number of any length at about the size that it has in the file', async () => {
    let peak = 0;
    const begin = process.memoryUsage().heapUsed;
    const onBytes = () => {
      peak = Math.max(peak, process.memoryUsage().heapUsed - begin);
    };
    await readText(`{"resourceType":"Bundle","total":1${'0'.repeat(16_000_000)}}`, { onBytes });
    // An array with an element for each digit takes over 300 MB.
    expect(peak / 1_000_000).toBeLessThan(150);
  });

  test('refuses only the entries that are not objects or have no resource', async () => {
    const { entries } = await readText(
      '{"resourceType":"Bundle","entry":[1,null,[],{},{"fullUrl":"u","response":{}},{"resource":{"id":"9"}}]}',
    );
    expect(entries.map(({ problem }) => problem)).toEqual([
      'entry is not an object',
      'entry is not an object',
      'entry is not an object',
      'entry has no resource',
      'entry has no resource',
      '',
    ]);
  });

  test('ignores a member called __proto__', async () => {
    const { entries } = await readText(
      '{"resourceType":"Bundle","entry":[{"resource":{"__proto__":{"id":"x"},"constructor":1}}]}',
    );
    expect(Object.getPrototypeOf(entries[0]?.resource)).toBe(Object.prototype);
    expect(entries[0]?.resource).not.toHaveProperty('id');
  });
});

describe('an unusable file', () => {
  test('that is truncated is reported with the byte, after the entries before it', async () => {
    const end = text.indexOf('valueQuantity');
    const { entries, error } = await readText(text.slice(0, end));
    expect(entries).toHaveLength(1);
    expect(error?.offset).toBe(Buffer.byteLength(text.slice(0, end)));
    expect(error?.message).toBe(
      `The file ends in the middle of the bundle: it is cut off (at byte ${error?.offset}).`,
    );
  });

  test.each<[string, string, number | null]>([
    ['a comma too many', '{"resourceType":"Bundle","entry":[{},]}', 37],
    ['a missing comma', '{"a":1 "b":2}', 7],
    ['a missing colon', '{"a" 1}', 5],
    ['a key that is no string', '{1:2}', 1],
    ['brackets that do not match', '{"entry":[}', 10],
    ['no JSON at all', 'resourceType: Bundle', 0],
    ['a control character in a string', '{"a":"\u0001"}', 6],
    ['two documents', '{"resourceType":"Bundle"}\n{"resourceType":"Bundle"}', 26],
    ['nesting without end', `{"a":${'['.repeat(200)}`, 104],
  ])('%s is reported with the byte', async (_, content, offset) => {
    const { error } = await readText(content);
    expect(error?.offset).toBe(offset);
  });

  test.each<[string, string | Uint8Array, string]>([
    ['an empty file', '', 'The file is empty.'],
    ['a single resource', '{"resourceType":"Patient"}', 'The file is not a FHIR bundle but a Patient.'],
    ['some other JSON', '{"hello":"world"}', 'The file is not a FHIR bundle.'],
    ['a list', '[1,2,3]', 'The file is not a FHIR bundle.'],
    ['gzip', gzipSync('{}'), 'The file is compressed with gzip: unpack it first.'],
    ['zip', 'PK\u0003\u0004', 'The file is a zip archive: unpack it first.'],
    ['XML', '<Bundle/>', 'The file is XML; only the JSON form of FHIR is read.'],
  ])('%s is named', async (_, content, message) => {
    const { error } = await readText(content);
    expect(error?.message).toBe(message);
  });

  test('that is missing is reported', async () => {
    expect((await read('/nowhere/at/all.json')).error?.message).toBe('There is no such file.');
  });
});
