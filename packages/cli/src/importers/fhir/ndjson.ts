import {
  type ImportRequest,
  type ImportSink,
  type ImportSource,
  takeFrom,
  UnusableFile,
} from '../ingest/importer.ts';
import { type ByteSource, type Line, openFileSource, readLines } from '../tables/lines.ts';
import { type JsonObject, parseResource } from './json-values.ts';
import { choosePatient, References } from './references.ts';
import { ResourceImport } from './resources.ts';

/** One line of an NDJSON file. */
interface ResourceLine {
  /** From 1. */
  readonly number: number;
  /** Position after the line. */
  readonly end: number;
  /** Null if the line has no usable resource; `problem` then gives the reason, and is empty for an empty line. */
  readonly resource: JsonObject | null;
  readonly problem: string;
}

const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** Reads the resources of an NDJSON file in groups of lines; a large line comes alone. */
async function* readNdjson(source: ByteSource): AsyncGenerator<Iterable<ResourceLine>> {
  for await (const lines of readLines(source, { maxLineBytes: MAX_LINE_BYTES }))
    yield lines.values().map(toResource);
}

function toResource({ number, end, text, problem }: Line): ResourceLine {
  const without = (reason: string): ResourceLine => ({ number, end, resource: null, problem: reason });
  if (problem !== '') return without(problem);
  if (text.trim() === '') return without('');
  const resource = parseResource(text);
  return typeof resource === 'string' ? without(`line ${resource}`) : { number, end, resource, problem: '' };
}

/**
 * Opens the files of a bulk data export, one resource a line. They are read twice: first to learn patients and references, also
 * across files, then to map and send them. A broken line is refused and the rest is imported.
 */
export async function openNdjson(
  paths: readonly string[],
  { patient, onChecked }: Pick<ImportRequest, 'patient' | 'onChecked'>,
): Promise<ImportSource> {
  const sources = paths.map(openFileSource);
  const size = sources.reduce((sum, source) => sum + source.size, 0);
  const references = new References();
  let start = 0;
  for (const source of sources) {
    await learn(source, references, (bytes) => onChecked(start + bytes, size));
    start += source.size;
  }
  return toSource(paths, sources, references, choosePatient(references, patient, 'export'));
}

/** Rejects with UnusableFile if no line of the file is a resource. */
async function learn(
  source: ByteSource,
  references: References,
  onBytes: (bytes: number) => void,
): Promise<void> {
  let [isEmpty, hasResource] = [true, false];
  for await (const lines of readNdjson(source)) {
    for (const { resource, problem, end } of lines) {
      isEmpty = isEmpty && resource === null && problem === '';
      hasResource = hasResource || resource !== null;
      if (resource !== null) references.add('', resource);
      onBytes(end);
    }
  }
  // A server may export an empty file for a type without resources.
  if (!hasResource && !isEmpty) throw new UnusableFile(`No line of ${source.name} is a FHIR resource`);
}

function toSource(
  paths: readonly string[],
  sources: readonly ByteSource[],
  references: References,
  patient: string | null,
): ImportSource {
  return {
    files: paths,
    size: sources.reduce((sum, source) => sum + source.size, 0),
    async read(sink, from, timeZone) {
      const resources = new ResourceImport({ references, patient, timeZone });
      await takeFrom(from, readAll(sources), sink, ({ line, origin }, to) =>
        takeLine(line, origin, resources, to),
      );
      resources.finish(sink);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** The lines of all files, with positions as in one concatenated file. */
async function* readAll(sources: readonly ByteSource[]) {
  let start = 0;
  for (const source of sources) {
    for await (const lines of readNdjson(source)) {
      for (const line of lines)
        yield { line, origin: `${source.name} line ${line.number}`, end: start + line.end };
    }
    start += source.size;
  }
}

function takeLine(
  { resource, problem }: ResourceLine,
  origin: string,
  resources: ResourceImport,
  sink: ImportSink,
): void {
  if (resource !== null) resources.take({ resource, fullUrl: '', origin }, sink);
  else if (problem === '') sink.leftOut('line', 'empty');
  else sink.refused('line', problem, origin);
}
