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

/** One access as a line (RFC 4180). */
export function toCsvLine(access: ExportedAccess): string {
  return `${COLUMNS.map((column) => toField(String(access[column]))).join(',')}\r\n`;
}

function toField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
