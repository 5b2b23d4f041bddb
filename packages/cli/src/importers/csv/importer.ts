import { findMetricByName } from '@phds/catalog/metrics';
import { NOTHING } from '../fhir/resources.ts';
import { parseTime } from '../ingest/dates.ts';
import {
  type ImportedReading,
  type Importer,
  type ImportSink,
  type ImportSource,
  Refused,
  UnusableFile,
  withoutItems,
} from '../ingest/importer.ts';
import { type ByteSource, openFileSource } from '../tables/lines.ts';
import {
  type Columns,
  findColumns,
  type Header,
  normalise,
  type Row,
  readHeader,
  readRows,
} from '../tables/rows.ts';
import { createHealthRecordParser, HEALTH_RECORD_COLUMNS } from './health-records.ts';
import { parseNumber, parseText } from './values.ts';

/** The columns of a file with readings. */
const READING_COLUMNS = ['type', 'start', 'end', 'value', 'unit', 'source'] as const;
type ReadingColumn = (typeof READING_COLUMNS)[number];

const REQUIRED: readonly ReadingColumn[] = ['type', 'start', 'value'];
const SOURCE = 'csv';
const LABEL_LENGTH = 40;

/** Converts the fields of one line to a reading. Dates without a time are days in the zone. Throws Refused. */
type ReadingParser = (fields: readonly string[], timeZone: string) => ImportedReading;

/** Throws UnusableFile if a required column is missing. */
function createReadingParser(columns: Columns<ReadingColumn>, delimiter: string): ReadingParser {
  for (const name of REQUIRED) {
    if (!columns.has(name)) throw new UnusableFile(`The header lacks the column ${name}`);
  }
  const indexOf = (name: ReadingColumn) => columns.get(name) ?? -1;
  const [type, start, end] = [indexOf('type'), indexOf('start'), indexOf('end')];
  const [value, unit, source] = [indexOf('value'), indexOf('unit'), indexOf('source')];
  return (fields, timeZone) => {
    const metric = findMetricByName(fields[type] ?? '');
    if (metric === null) throw new Refused('type is not known');
    const startAt = parseTime('start', fields[start] ?? '', timeZone);
    const [endText = '', valueText = ''] = [fields[end], fields[value]];
    if (valueText === '' && !metric.nullable) throw new Refused('value is missing');
    return {
      type: metric.name,
      start: startAt,
      end: endText === '' ? startAt : parseTime('end', endText, timeZone),
      value: valueText === '' ? null : parseNumber('value', valueText, delimiter),
      unit: parseText('unit', fields[unit] ?? '', LABEL_LENGTH),
      source: parseText('source', fields[source] ?? '', LABEL_LENGTH) || SOURCE,
    };
  };
}

const DELIMITERS = [',', ';', '\t'];

/** Processes the fields of one line. Throws Refused. */
type TakeLine = (fields: readonly string[], line: number, sink: ImportSink) => void;

/** The content of a file, according to its header. */
interface Content {
  /** Dates without a time are days in the zone. */
  readonly takeIn: (timeZone: string) => TakeLine;
  /** If so, lines before the resume position are read too. */
  readonly mayHoldProfile: boolean;
}

/** Imports files with one of our headers: readings, or records of the other resources (docs/operations/importing.md, "CSV"). */
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
    async read(sink, from, timeZone) {
      const take = content.takeIn(timeZone);
      const start = content.mayHoldProfile ? header.end : Math.max(from, header.end);
      const earlier = withoutItems(sink);
      for await (const rows of readRows(source, { delimiter, width: names.length, from: start })) {
        for (const row of rows) takeRow(row, take, row.end <= from ? earlier : sink);
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
      takeIn: (timeZone) => (fields, line, sink) => {
        const outcome = parse(fields, timeZone);
        if (outcome.kind === 'profile') sink.profile(outcome.facts);
        else if (outcome.kind === 'left-out') sink.leftOut(outcome.label, NOTHING);
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
  return {
    mayHoldProfile: false,
    takeIn: (timeZone) => (fields, line, sink) => sink.reading(parse(fields, timeZone), line),
  };
}

function takeRow({ line, fields, problem }: Row, take: TakeLine, sink: ImportSink): void {
  if (problem !== '') sink.refused('line', problem, line);
  else if (fields.length === 0) sink.leftOut('line', 'empty');
  else takeFields(fields, line, take, sink);
}

function takeFields(fields: readonly string[], line: number, take: TakeLine, sink: ImportSink): void {
  try {
    take(fields, line, sink);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    sink.refused('line', error.message, line);
  }
}
