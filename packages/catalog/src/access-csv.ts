/** An exported access to a person's data. */
export interface ExportedAccess {
  readonly id: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  /** Client id. */
  readonly app: string;
  /** As shown to the person at the latest approval before the access; empty if the app is no longer known. */
  readonly appName: string;
  readonly grantId: string;
  readonly scope: string;
  readonly endpoint: string;
  readonly from: string;
  readonly to: string;
  readonly page: number;
  readonly recordCount: number;
  readonly requestId: string;
  readonly outcome: 'released' | 'refused';
  /** The public reason; empty when released. */
  readonly reason: string;
}

/** The columns of the export, in order. */
export const ACCESS_COLUMNS = [
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

/** The header line (RFC 4180). */
export const ACCESS_CSV_HEADER = `${ACCESS_COLUMNS.join(',')}\r\n`;

/** Formats one access as a line of CSV, see `toCsvLine`. */
export function toAccessCsvLine(access: ExportedAccess): string {
  return toCsvLine(ACCESS_COLUMNS.map((column) => access[column]));
}

/** Formats values as a line of CSV (RFC 4180). A text that a spreadsheet would interpret as a formula is prefixed with `'`. */
export function toCsvLine(values: readonly (string | number)[]): string {
  return `${values.map((value) => (typeof value === 'number' ? String(value) : toField(value))).join(',')}\r\n`;
}

// Characters that start a formula in a spreadsheet (OWASP, "CSV Injection"), at the beginning of a field or after what a spreadsheet may
// take for the end of one: in German, `;` separates, and quotes in the middle of a field do not count then. Apps choose their own names.
const FORMULA = /(^|[;|\t\r\n\u2028\u2029])([\s"']*)(?=[=+\-@＝＋－＠])/g;
const BLANK = /^[\t\r\n]/;

function toField(value: string): string {
  const text = value.replaceAll(FORMULA, "$1$2'");
  const safe = BLANK.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
