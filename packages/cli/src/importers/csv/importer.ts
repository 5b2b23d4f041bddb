import { type Importer, type ImportSink, type ImportSource, withoutItems } from '../ingest/importer.ts';
import { Refused } from '../ingest/refused.ts';
import { UnusableFile } from '../ingest/unusable-file.ts';
import { type ByteSource, openFileSource } from '../tables/byte-source.ts';
import { findColumns, type Header, normalise, readHeader } from '../tables/header.ts';
import { type Row, readRows } from '../tables/row-reader.ts';
import { HEALTH_RECORD_COLUMNS } from './health-record-kinds.ts';
import { createHealthRecordParser } from './health-records.ts';
import { createReadingParser, READING_COLUMNS } from './readings.ts';

const DELIMITERS = [',', ';', '\t'];

/** The content of a file, according to its header. */
interface Content {
  /** Processes the fields of one line. Throws Refused. */
  readonly take: (fields: readonly string[], line: number, sink: ImportSink) => void;
  /** If so, lines before the resume position are read too. */
  readonly mayHoldProfile: boolean;
}

/** Imports files with one of our headers: readings, or records of the other resources (docs/importing.md, "CSV"). */
export const csvImporter: Importer = {
  format: 'csv',
  takesSeveral: false,
  async open({ paths, patient }) {
    const [path = ''] = paths;
    if (patient !== null) throw new UnusableFile('A CSV file is about one person: leave --patient out');
    const source = openFileSource(path);
    const header = await readHeader(source, DELIMITERS);
    return toSource(path, source, header, chooseContent(header));
  },
};

function toSource(path: string, source: ByteSource, header: Header, content: Content): ImportSource {
  const { delimiter, names } = header;
  return {
    files: [path],
    size: source.size,
    describe: (line) => `line ${line}`,
    async read(sink, from) {
      const start = content.mayHoldProfile ? header.end : Math.max(from, header.end);
      const earlier = withoutItems(sink);
      for await (const rows of readRows(source, { delimiter, width: names.length, from: start })) {
        for (const row of rows) takeRow(row, content.take, row.end <= from ? earlier : sink);
        const last = rows.at(-1);
        if (last !== undefined && last.end > from) await sink.reached(last.end);
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Determines which of the two headers the file has. Throws UnusableFile if it has neither. */
function chooseContent(header: Header): Content {
  const names = header.names.map(normalise);
  if (names.includes('record')) {
    const parse = createHealthRecordParser(findColumns(header, HEALTH_RECORD_COLUMNS));
    return {
      mayHoldProfile: true,
      take: (fields, line, sink) => {
        const outcome = parse(fields);
        if (outcome.kind === 'profile') sink.profile(outcome.facts);
        else sink.record(outcome.record, line);
      },
    };
  }
  if (!READING_COLUMNS.some((name) => names.includes(name))) {
    throw new UnusableFile(
      `The first line is no header. For readings it is: ${READING_COLUMNS.join(',')}. For records it begins with: record`,
    );
  }
  const parse = createReadingParser(findColumns(header, READING_COLUMNS), header.delimiter);
  return { mayHoldProfile: false, take: (fields, line, sink) => sink.reading(parse(fields), line) };
}

function takeRow({ line, fields, problem }: Row, take: Content['take'], sink: ImportSink): void {
  if (problem !== '') sink.refused('line', problem, line);
  else if (fields.length === 0) sink.leftOut('line', 'empty');
  else takeFields(fields, line, take, sink);
}

function takeFields(fields: readonly string[], line: number, take: Content['take'], sink: ImportSink): void {
  try {
    take(fields, line, sink);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    sink.refused('line', error.message, line);
  }
}
