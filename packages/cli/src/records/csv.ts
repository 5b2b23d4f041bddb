import type { ExportedAccess } from './exported-access.ts';

const COLUMNS = [
  'id',
  'at',
  'app',
  'appName',
  'grantId',
  'scope',
  'endpoint',
  'from',
  'to',
  'page',
  'recordCount',
  'requestId',
  'outcome',
  'reason',
] as const satisfies readonly (keyof ExportedAccess)[];

/** The header (RFC 4180). */
export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`;

/** One access as a line (RFC 4180). A text that begins like a formula has a `'` before it. */
export function toCsvLine(access: ExportedAccess): string {
  return `${COLUMNS.map((column) => toField(String(access[column]))).join(',')}\r\n`;
}

// What a spreadsheet takes for the beginning of a formula (OWASP, "CSV Injection"). An app chooses its own name.
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

function toField(given: string): string {
  const text = FORMULA.test(given) ? `'${given}` : given;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
