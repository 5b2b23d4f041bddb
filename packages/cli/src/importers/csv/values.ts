import { Refused } from '../ingest/importer.ts';

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const COMMA_NUMBER = /^[+-]?\d+,\d+$/;
const THOUSANDS = /^[+-]?\d{1,3},\d{3}$/;

/**
 * Parses a decimal number. A comma is a decimal mark if it cannot be the delimiter, as in many spreadsheets, but not with exactly
 * three digits after it, which may mean thousands. Throws Refused.
 */
export function parseNumber(field: string, text: string, delimiter: string): number {
  if (delimiter !== ',' && COMMA_NUMBER.test(text)) {
    if (THOUSANDS.test(text)) throw new Refused(`${field} has a comma that may mean thousands or decimals`);
    return Number(text.replace(',', '.'));
  }
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new Refused(`${field} is not a number`);
  return value;
}

/** A text of at most `maxLength` UTF-16 units. Throws Refused for a longer one, which the rpc would refuse anyway. */
export function parseText(field: string, text: string, maxLength: number): string {
  if (text.length > maxLength) throw new Refused(`${field} is longer than ${maxLength} characters`);
  return text;
}
