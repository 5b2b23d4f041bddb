import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Importer, UnusableFile } from '../ingest/importer.ts';
import { openFileSource, readHead } from '../tables/lines.ts';
import { openBundle } from './bundle.ts';
import { parseResource } from './json-values.ts';
import { openNdjson } from './ndjson.ts';

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
