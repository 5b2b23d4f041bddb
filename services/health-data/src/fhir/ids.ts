import type { IdPrefix, ReaderIds } from '../public-ids.ts';

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
type TimedPrefix = 'rdg' | 'wgt';

const BLOCK_BYTES = 16;
const ID_BYTES = 2 * BLOCK_BYTES;
const DIGITS = 52;
const TWO_16 = 2 ** 16;
const TWO_32 = 2 ** 32;
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
  const plain = Buffer.alloc(rows.length * ID_BYTES);
  // The blocks of the rows, then those of the starts: one call for all digits takes a fourth of the time.
  const starts = plain.write(
    rows
      .map(({ id }) => id)
      .join('')
      .replaceAll('-', ''),
    'hex',
  );
  for (const [index, { timestamp }] of rows.entries())
    writeStart(plain, starts + index * BLOCK_BYTES, Date.parse(timestamp));
  const blocks = ids.encrypt(plain);
  for (let at = 0; at < starts; at += BLOCK_BYTES) {
    blocks.copy(plain, 2 * at, at, at + BLOCK_BYTES);
    blocks.copy(plain, 2 * at + BLOCK_BYTES, starts + at, starts + at + BLOCK_BYTES);
  }
  const digits = toBase32(plain);
  return rows.map((_, index) => `${prefix}-${digits.slice(index * DIGITS, (index + 1) * DIGITS)}`);
}

/** The start (Unix milliseconds) in the id of a resource; null for an id that was not made for this reader. */
export function findStart(ids: ReaderIds, prefix: TimedPrefix, id: string): number | null {
  const digits = id.slice(prefix.length + 1);
  if (id !== `${prefix}-${digits}` || !/^[0-9a-v]{52}$/.test(digits)) return null;
  const bytes = fromBase32(digits);
  if (toBase32(bytes) !== digits) return null;
  const block = ids.decrypt(bytes).subarray(BLOCK_BYTES);
  const start = block.readUInt32BE(0) * TWO_32 + block.readUInt32BE(4) + YEAR_ONE;
  const same = Buffer.alloc(BLOCK_BYTES);
  return block.readUInt32BE(0) < TWO_16 && writeStart(same, 0, start).equals(block) ? start : null;
}

function writeStart(block: Buffer, offset: number, start: number): Buffer {
  block.writeUInt32BE(Math.floor((start - YEAR_ONE) / TWO_32), offset);
  block.writeUInt32BE((start - YEAR_ONE) % TWO_32, offset + 4);
  return block;
}

const ALPHABET = Buffer.from('0123456789abcdefghijklmnopqrstuv');

/** base32hex (RFC 4648) of each id, in lower case, without padding. A page of ids takes five times as long by BigInt. */
function toBase32(bytes: Uint8Array): string {
  const digits = Buffer.allocUnsafe((bytes.length / ID_BYTES) * DIGITS);
  let [held, bits, place] = [0, 0, 0];
  for (let index = 0; index < bytes.length; index += 1) {
    held = ((held << 8) | (bytes[index] ?? 0)) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) digits[place++] = ALPHABET[(held >> (bits - 5)) & 31] ?? 0;
    if ((index + 1) % ID_BYTES > 0) continue;
    digits[place++] = ALPHABET[(held << (5 - bits)) & 31] ?? 0;
    bits = 0;
  }
  return digits.toString('latin1');
}

function fromBase32(digits: string): Buffer {
  const bytes: number[] = [];
  let [held, bits] = [0, 0];
  for (const digit of digits) {
    held = ((held << 5) | Number.parseInt(digit, 32)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 255);
  }
  return Buffer.from(bytes);
}
