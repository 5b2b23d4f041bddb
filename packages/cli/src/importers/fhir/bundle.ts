import { statSync } from 'node:fs';
import { FirstStatements } from '../ingest/first-statements.ts';
import { type ImportRequest, type ImportSink, type ImportSource, withoutItems } from '../ingest/importer.ts';
import { type BundleEntry, readBundle } from './bundle-reader.ts';
import { choosePatient } from './chosen-patient.ts';
import { idOf, References } from './references.ts';
import { ResourceImport } from './resource-import.ts';

const NAME_LENGTH = 100;

/**
 * Opens an R4 bundle. The file is read twice: first to check that it is complete and to learn its patient and references, then to
 * map and send its entries. Nothing of a damaged file is stored.
 */
export async function openBundle(
  file: string,
  { patient, onChecked }: Pick<ImportRequest, 'patient' | 'onChecked'>,
): Promise<ImportSource> {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const references = new References();
  for await (const { fullUrl, resource } of readBundle(file, {
    onBytes: (bytes) => onChecked(bytes, size),
  })) {
    if (resource !== null) references.add(fullUrl, resource);
  }
  return toSource(file, size, references, choosePatient(references, patient, 'bundle'));
}

function toSource(file: string, size: number, references: References, patient: string | null): ImportSource {
  return {
    files: [file],
    size,
    describe: (index) => `entry[${index}]`,
    async read(sink, from) {
      // If the bundle repeats a statement, the first one counts.
      const resources = new ResourceImport({ references, patient, statements: new FirstStatements() });
      const earlier = withoutItems(sink);
      for await (const entry of readBundle(file)) {
        takeEntry(entry, resources, entry.end <= from ? earlier : sink);
        if (entry.end > from) await sink.reached(entry.end);
      }
      resources.finish(sink);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function takeEntry(
  { index, fullUrl, resource, problem }: BundleEntry,
  resources: ResourceImport,
  sink: ImportSink,
): void {
  if (resource === null) {
    sink.refused('entry', problem, index);
    return;
  }
  const name = idOf(fullUrl, resource);
  const origin = `entry[${index}]${name === '' ? '' : ` ${name.slice(0, NAME_LENGTH)}`}`;
  resources.take({ resource, fullUrl, origin }, sink);
}
