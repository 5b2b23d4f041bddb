import { findMetricByName } from '@phds/catalog/metrics';
import { parseTime } from '../ingest/dates.ts';
import {
  type Importer,
  type ImportSource,
  type Outcome,
  Refused,
  takeFrom,
  UnusableFile,
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
import { createHealthRecordParser, HEALTH_RECORD_COLUMNS, parseText } from './health-records.ts';

/** The columns of a file with readings. */
const READING_COLUMNS = ['type', 'start', 'end', 'value', 'unit', 'source'] as const;
type ReadingColumn = (typeof READING_COLUMNS)[number];

const REQUIRED: readonly ReadingColumn[] = ['type', 'start', 'value'];
const SOURCE = 'csv';
const LABEL_LENGTH = 40;

/** What becomes of the fields of a line. Dates without a time are days in the zone. Throws Refused. */
type LineParser = (fields: readonly string[], timeZone: string) => Outcome;

/** Throws UnusableFile if a required column is missing. */
function createReadingParser(columns: Columns<ReadingColumn>, delimiter: string): LineParser {
  for (const name of REQUIRED) {
    if (!columns.has(name)) throw new UnusableFile(`The header lacks the column ${name}`);
  }
  return (fields, timeZone) => {
    const text = (name: ReadingColumn) => fields[columns.get(name) ?? -1] ?? '';
    const metric = findMetricByName(text('type'));
    if (metric === null) throw new Refused('type is not known');
    const start = parseTime('start', text('start'), timeZone);
    const value = text('value');
    if (value === '' && !metric.nullable) throw new Refused('value is missing');
    const reading = {
      type: metric.name,
      start,
      end: text('end') === '' ? start : parseTime('end', text('end'), timeZone),
      value: value === '' ? null : parseNumber('value', value, delimiter),
      unit: parseText('unit', text('unit'), LABEL_LENGTH),
      source: parseText('source', text('source'), LABEL_LENGTH) || SOURCE,
    };
    return { kind: 'reading', reading };
  };
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const COMMA_NUMBER = /^[+-]?\d+,\d+$/;
const THOUSANDS = /^[+-]?\d{1,3},\d{3}$/;

/**
 * Parses a decimal number. A comma is a decimal mark if it cannot be the delimiter, as in many spreadsheets, but not with exactly
 * three digits after it, which may mean thousands. Throws Refused.
 */
function parseNumber(field: string, text: string, delimiter: string): number {
  if (delimiter !== ',' && COMMA_NUMBER.test(text)) {
    if (THOUSANDS.test(text)) throw new Refused(`${field} has a comma that may mean thousands or decimals`);
    return Number(text.replace(',', '.'));
  }
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new Refused(`${field} is not a number`);
  return value;
}

const DELIMITERS = [',', ';', '\t'];

/** Imports files with one of our headers: readings, or records of the other resources (docs/operations/importing.md, "CSV"). */
export const csvImporter: Importer = {
  format: 'csv',
  takesSeveral: false,
  async open({ paths, patient }) {
    const [path = ''] = paths;
    if (patient !== null) throw new UnusableFile('A CSV file is about one person: leave --patient out');
    const source = openFileSource(path);
    const header = await readHeader(source, DELIMITERS);
    return toSource(path, source, header, chooseParser(header));
  },
};

function toSource(path: string, source: ByteSource, header: Header, parse: LineParser): ImportSource {
  const { delimiter, names, end } = header;
  return {
    files: [path],
    size: source.size,
    async read(sink, from, timeZone) {
      const rows = readRows(source, { delimiter, width: names.length, from: end });
      await takeFrom(from, rows, sink, (row, to) => {
        to.take(outcomeOf(row, parse, timeZone), 'line', `line ${row.line}`);
      });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Determines which of the two headers the file has. Throws UnusableFile if it has neither. */
function chooseParser(header: Header): LineParser {
  const names = header.names.map(normalise);
  if (names.includes('record')) return createHealthRecordParser(findColumns(header, HEALTH_RECORD_COLUMNS));
  if (!READING_COLUMNS.some((name) => names.includes(name))) {
    throw new UnusableFile(
      `The first line is no header. For readings it is: ${READING_COLUMNS.join(',')}. For records it begins with: record`,
    );
  }
  return createReadingParser(findColumns(header, READING_COLUMNS), header.delimiter);
}

function outcomeOf({ fields, problem }: Row, parse: LineParser, timeZone: string): Outcome {
  if (problem !== '') return { kind: 'refused', reason: problem };
  if (fields.length === 0) return { kind: 'left-out', reason: 'empty' };
  try {
    return parse(fields, timeZone);
  } catch (error) {
    if (error instanceof Refused) return { kind: 'refused', reason: error.message };
    throw error;
  }
}
