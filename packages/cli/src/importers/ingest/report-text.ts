import type { ReportData, TypeCounts } from './report.ts';

const HEADINGS = ['new', 'updated', 'unchanged'];
const COLUMN = 11;

/** Formats the report for a terminal. */
export function reportText(report: ReportData): string {
  const width = Math.max(12, ...typesOf(report).map((type) => type.length + 2)) + 2;
  const total = report.stored;
  const blocks = [
    table('Readings', report.readings, width),
    table('Records', report.records, width),
    report.profile.length === 0 ? '' : `Profile: ${report.profile.join(', ')}`,
    leftOutText(report),
    refusedText(report),
    `${total.inserted} new, ${total.updated} updated, ${total.unchanged} unchanged, ${report.leftOutCount} left out, ${report.refusedCount} refused.`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function typesOf({ readings, records }: ReportData): string[] {
  return [...Object.keys(readings), ...Object.keys(records)];
}

function table(title: string, types: Readonly<Record<string, TypeCounts>>, width: number): string {
  const rows = Object.entries(types);
  if (rows.length === 0) return '';
  const head = title.padEnd(width) + HEADINGS.map((heading) => heading.padStart(COLUMN)).join('');
  const lines = rows.map(([type, { inserted, updated, unchanged }]) => {
    const counts = [inserted, updated, unchanged].map((count) => String(count).padStart(COLUMN));
    return `  ${type}`.padEnd(width) + counts.join('');
  });
  return [head, ...lines].join('\n');
}

function leftOutText({ leftOut }: ReportData): string {
  if (leftOut.length === 0) return '';
  const lines = leftOut.map(({ reason, types }) => {
    const counts = Object.entries(types).map(([type, count]) => `${type} ${count}`);
    return `  ${reason}: ${counts.join(', ')}`;
  });
  return ['Left out on purpose', ...lines].join('\n');
}

function refusedText({ refused }: ReportData): string {
  if (refused.length === 0) return '';
  const lines = refused.map(
    ({ type, reason, count, examples }) => `  ${count} × ${type}: ${reason} (${examples.join(', ')})`,
  );
  return ['Refused', ...lines].join('\n');
}
