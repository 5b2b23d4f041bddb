import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Importer, type ImportRequest, type ImportSource, UnusableFile } from '../ingest/importer.ts';
import { type ByteSource, type Line, openFileSource, readHead, readLines } from '../tables/lines.ts';
import { openBundle } from './bundle.ts';
import { parseResource } from './json-values.ts';
import { openResources, type PlacedItem } from './resources.ts';

const NDJSON = /\.ndjson$/i;
const HEAD_BYTES = 1024 * 1024;

/** Imports FHIR R4: a bundle (JSON), or files of a bulk data export (NDJSON) or their directory. */
export const fhirImporter: Importer = {
  format: 'fhir',
  takesSeveral: true,
  async open({ paths, ...request }) {
    const files = paths.flatMap((path) => (isDirectory(path) ? filesIn(path) : [path]));
    const [file = '', ...others] = files;
    let isNdjson = true;
    for (const path of files) isNdjson &&= NDJSON.test(path) || (await beginsWithResource(path));
    if (isNdjson) return openNdjson(files, request);
    if (others.length === 0) return openBundle(file, request);
    throw new UnusableFile('Several files can be imported at once only when all of them are .ndjson');
  },
};

/** Whether the first line is a whole resource, but no bundle: NDJSON under another name. */
async function beginsWithResource(path: string): Promise<boolean> {
  const head = (await readHead(openFileSource(path), HEAD_BYTES)).toString();
  const [line = ''] = head.replace(/^\ufeff/, '').split('\n', 1);
  const resource = parseResource(line);
  return typeof resource !== 'string' && resource['resourceType'] !== 'Bundle';
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Sorted by name, so that a second run has the same order. */
function filesIn(directory: string): string[] {
  const names = readdirSync(directory).filter((name) => NDJSON.test(name));
  if (names.length === 0) throw new UnusableFile('The directory has no .ndjson files');
  return names.toSorted().map((name) => join(directory, name));
}

const MAX_LINE_BYTES = 8 * 1024 * 1024;

/**
 * Opens the files of a bulk data export, one resource a line, which may refer to other files. A broken line is refused and the rest is
 * imported.
 */
function openNdjson(
  paths: readonly string[],
  request: Pick<ImportRequest, 'patient' | 'onChecked'>,
): Promise<ImportSource> {
  const sources = paths.map(openFileSource);
  const size = sources.reduce((sum, source) => sum + source.size, 0);
  const read = () => readAll(sources);
  return openResources({ ...request, input: 'export', item: 'line', files: paths, size, read });
}

/** The lines of all files, with positions as in one concatenated file. */
async function* readAll(sources: readonly ByteSource[]): AsyncGenerator<PlacedItem> {
  let start = 0;
  for (const source of sources) {
    yield* readNdjson(source, start);
    start += source.size;
  }
}

/** Throws UnusableFile if no line of the file is a resource. */
async function* readNdjson(source: ByteSource, start: number): AsyncGenerator<PlacedItem> {
  let [isEmpty, hasResource] = [true, false];
  for await (const lines of readLines(source, { maxLineBytes: MAX_LINE_BYTES })) {
    for (const line of lines) {
      const item = toItem(line, source.name, start);
      isEmpty &&= item.resource === null && item.problem === '';
      hasResource ||= item.resource !== null;
      yield item;
    }
  }
  // A server may export an empty file for a type without resources.
  if (!hasResource && !isEmpty) throw new UnusableFile(`No line of ${source.name} is a FHIR resource`);
}

/** Without a problem for an empty line. */
function toItem({ number, end, text, problem }: Line, file: string, start: number): PlacedItem {
  const place = { fullUrl: '', origin: `${file} line ${number}`, end: start + end };
  if (problem !== '' || text.trim() === '') return { ...place, resource: null, problem };
  const resource = parseResource(text);
  if (typeof resource === 'string') return { ...place, resource: null, problem: `line ${resource}` };
  return { ...place, resource, problem: '' };
}
