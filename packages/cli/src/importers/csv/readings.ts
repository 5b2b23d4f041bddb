import { findMetricByName } from '@phds/catalog/metrics';
import type { ImportedReading } from '../ingest/imported-item.ts';
import { Refused } from '../ingest/refused.ts';
import { UnusableFile } from '../ingest/unusable-file.ts';
import type { Columns } from '../tables/header.ts';
import { parseNumber, parseText, parseTime } from './values.ts';

/** The columns of a file with readings. */
export const READING_COLUMNS = ['type', 'start', 'end', 'value', 'unit', 'source'] as const;
type ReadingColumn = (typeof READING_COLUMNS)[number];

const REQUIRED: readonly ReadingColumn[] = ['type', 'start', 'value'];
const SOURCE = 'csv';
const LABEL_LENGTH = 40;

/** Converts the fields of one line to a reading. Throws Refused. */
export type ReadingParser = (fields: readonly string[]) => ImportedReading;

/** Throws UnusableFile if a required column is missing. */
export function createReadingParser(columns: Columns<ReadingColumn>, delimiter: string): ReadingParser {
  for (const name of REQUIRED) {
    if (!columns.has(name)) throw new UnusableFile(`The header lacks the column ${name}`);
  }
  const indexOf = (name: ReadingColumn) => columns.get(name) ?? -1;
  const [type, start, end] = [indexOf('type'), indexOf('start'), indexOf('end')];
  const [value, unit, source] = [indexOf('value'), indexOf('unit'), indexOf('source')];
  return (fields) => {
    const metric = findMetricByName(fields[type] ?? '');
    if (metric === null) throw new Refused('type is not known');
    const startAt = parseTime('start', fields[start] ?? '');
    const [endText = '', valueText = ''] = [fields[end], fields[value]];
    if (valueText === '' && !metric.nullable) throw new Refused('value is missing');
    return {
      type: metric.name,
      start: startAt,
      end: endText === '' ? startAt : parseTime('end', endText),
      value: valueText === '' ? null : parseNumber('value', valueText, delimiter),
      unit: parseText('unit', fields[unit] ?? '', LABEL_LENGTH),
      source: parseText('source', fields[source] ?? '', LABEL_LENGTH) || SOURCE,
    };
  };
}
