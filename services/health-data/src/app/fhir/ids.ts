import type { IdPrefix } from '../../domain/public-id.ts';
import type { ReaderIds } from '../public-ids.ts';

// FHIR allows 64 letters, digits, `-` and `.` in an id (R4, data type id), so `_` becomes `-`. Readings are not found by row id alone,
// so their ids hold the start too: two encrypted blocks, in base 32 because hexadecimal digits would not fit.

interface Row {
  readonly id: string;
}

/** A row that is found by its id and its start, RFC 3339. */
interface TimedRow extends Row {
  readonly timestamp: string;
}

/** Prefixes of the ids that hold a start. */
export type TimedPrefix = 'rdg' | 'wgt';

const BLOCK_DIGITS = 32;
const TIME_DIGITS = 16;
const DIGITS = 52;
/** Makes every start of the calendar positive. */
const YEAR_ONE = Date.parse('0001-01-01T00:00:00Z');

/** The ids of resources for this reader, in the order of the rows. */
export function toFhirIds(ids: ReaderIds, prefix: IdPrefix, rows: readonly Row[]): string[] {
  return ids.toPublicIds(prefix, rows).map((id) => id.replace('_', '-'));
}

/** The row id of a resource; null for an id of another form. */
export function findRowId(ids: ReaderIds, prefix: IdPrefix, id: string): string | null {
  return ids.findRowId(prefix, id.replace('-', '_'));
}

/** The same for rows with a start. */
export function toTimedIds(ids: ReaderIds, prefix: TimedPrefix, rows: readonly TimedRow[]): string[] {
  const blocks = ids.toPublicIds(
    prefix,
    rows.flatMap(({ id, timestamp }) => [{ id }, { id: toBlock(Date.parse(timestamp)) }]),
  );
  const skipped = prefix.length + 1;
  return rows.map((_, index) => {
    const [row = '', start = ''] = blocks.slice(2 * index, 2 * index + 2);
    const number = BigInt(`0x${row.slice(skipped)}${start.slice(skipped)}`);
    return `${prefix}-${number.toString(32).padStart(DIGITS, '0')}`;
  });
}

/** The start (Unix milliseconds) in the id of a resource; null for an id that was not made for this reader. */
export function findStart(ids: ReaderIds, prefix: TimedPrefix, id: string): number | null {
  const digits = id.slice(prefix.length + 1);
  if (id !== `${prefix}-${digits}` || !/^[01][0-9a-v]{51}$/.test(digits)) return null;
  let number = 0n;
  for (const digit of digits) number = 32n * number + BigInt(Number.parseInt(digit, 32));
  const blocks = number.toString(16).padStart(2 * BLOCK_DIGITS, '0');
  if (blocks.length > 2 * BLOCK_DIGITS) return null;
  const block = ids.findRowId(prefix, `${prefix}_${blocks.slice(BLOCK_DIGITS)}`)?.replaceAll('-', '') ?? '';
  const start = Number.parseInt(block.slice(0, TIME_DIGITS), 16) + YEAR_ONE;
  return toBlock(start) === block ? start : null;
}

function toBlock(start: number): string {
  return (start - YEAR_ONE).toString(16).padStart(TIME_DIGITS, '0').padEnd(BLOCK_DIGITS, '0');
}
