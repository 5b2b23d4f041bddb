import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import {
  type ListReportsResponse,
  type Report,
  ReportService,
} from '@phds/contracts/phds/consent/v1/reports_pb';
import { findReportReason } from '@phds/service-kit/report-reasons';
import { explainOperator } from '../operator/explanation.ts';
import { EXIT_DONE, EXIT_FAILED } from './exit-codes.ts';
import type { OperatorSurroundings } from './restore.ts';

/** Reports on one page. */
const PAGE_SIZE = 100;

export interface ListReportsArguments {
  /** Null for every app. */
  readonly clientId: string | null;
  readonly page: number;
  readonly json: boolean;
}

/** `phds reports list`: prints one page of what people reported about apps, newest first. Returns the exit code. */
export async function listReports(
  { clientId, page, json }: ListReportsArguments,
  { output, errors, connect }: OperatorSurroundings,
): Promise<number> {
  try {
    using connection = connect();
    const listed = await connection
      .client('consent', ReportService)
      .listReports({ clientId: clientId ?? '', page: { page, pageSize: PAGE_SIZE } });
    output.write(json ? `${JSON.stringify(toJson(listed, page), null, 2)}\n` : toText(listed, page));
    return EXIT_DONE;
  } catch (error) {
    errors.write(`${explainOperator(error, 'consent')}\n`);
    return EXIT_FAILED;
  }
}

function toJson({ reports, total }: ListReportsResponse, page: number) {
  return { reports: reports.map(toEntry), page, pages: Math.ceil(total / PAGE_SIZE), total };
}

function toEntry(report: Report) {
  const orNull = (text: string) => (text === '' ? null : text);
  return {
    id: report.id,
    at: toInstant(report.at),
    reason: findReportReason(report.reason) ?? 'unknown',
    app: {
      clientId: report.clientId,
      name: report.appName,
      currentName: report.currentAppName,
      redirectHost: orNull(report.redirectHost),
    },
    text: orNull(report.text),
    user: orNull(report.userId),
    grantId: orNull(report.grantId),
    pendingId: orNull(report.pendingId),
  };
}

function toText({ reports, total }: ListReportsResponse, page: number): string {
  if (total === 0) return 'No reports.\n';
  const foot = `Page ${page} of ${Math.ceil(total / PAGE_SIZE)}, ${total} reports in total.\n`;
  return `${reports.map(toParagraph).join('\n')}${reports.length === 0 ? '' : '\n'}${foot}`;
}

function toParagraph(report: Report): string {
  const { id, at, reason, app, text, user, grantId, pendingId } = toEntry(report);
  const now = app.currentName === app.name ? '' : ` (now: ${app.currentName})`;
  const host = app.redirectHost === null ? '' : `, ${app.redirectHost}`;
  return [
    `${at}  ${reason}  ${id}`,
    `  app   ${app.name}${now}, ${app.clientId}${host}`,
    `  by    ${user ?? 'an erased person'}, ${grantId ?? pendingId}`,
    ...(text ?? '').split('\n').map((line) => (line === '' ? '' : `  | ${line}`)),
  ]
    .filter((line) => line !== '')
    .map((line) => `${line}\n`)
    .join('');
}

function toInstant(time: Timestamp | undefined): string {
  return time === undefined ? '' : timestampDate(time).toISOString();
}
