import {
  type ListReportsResponse,
  type Report,
  ReportService,
} from '@phds/contracts/phds/consent/v1/reports_pb';
import { findReportReason } from '@phds/service-kit/wire-enums';
import { callAsOperator, type OperatorSurroundings, PAGE_SIZE, toInstant } from '../operator/connection.ts';
import { toJson } from './command.ts';

export interface ListReportsArguments {
  /** Null for every app. */
  readonly clientId: string | null;
  readonly page: number;
  readonly json: boolean;
}

/** `phds reports list`: prints one page of what people reported about apps, newest first. Returns the exit code. */
export async function listReports(
  { clientId, page, json }: ListReportsArguments,
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(['consent', ReportService], json, surroundings, async (client) => {
    const listed = await client.listReports({
      clientId: clientId ?? '',
      page: { page, pageSize: PAGE_SIZE },
    });
    return json ? toJson(toDocument(listed, page)) : toText(listed, page);
  });
}

function toDocument({ reports, total }: ListReportsResponse, page: number) {
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
