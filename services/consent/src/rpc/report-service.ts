import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { toPage } from '@phds/catalog/pagination';
import { REPORT_REASONS, type ReportReason } from '@phds/catalog/wire-names';
import {
  type ReportAppRequest,
  type ReportReason as ReportReasonMessage,
  type ReportSchema,
  ReportService,
} from '@phds/contracts/phds/consent/v1/reports_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import type { UserOf } from '@phds/service-kit/rpc/context';
import { implement } from '@phds/service-kit/rpc/service';
import { VIEWERS } from '@phds/service-kit/trust/callers';
import { findReportReason, toReportReasonMessage } from '@phds/service-kit/wire-enums';
import type { Reports } from '../app/reports.ts';
import type { AppReport, ReportSubject } from '../domain/app-report.ts';
import { parseKnownId, parseText } from './parameters.ts';

/** phds.consent.v1.ReportService. */
export function createReportService({ reports, userOf }: { reports: Reports; userOf: UserOf }) {
  return implement(
    ReportService,
    {
      async reportApp(request, context) {
        const userId = await userOf(context);
        const complaint = { reason: parseReason(request.reason), text: request.text };
        const { id, at } = await reports.report(userId, parseSubject(request), complaint);
        return { id, at: timestampFromDate(at) };
      },
      async listReports({ clientId, page }) {
        const about = clientId === '' ? null : parseText('clientId', clientId, 128);
        const { items, total } = await reports.list(about, toPage(page));
        return { reports: items.map(toReportMessage), total };
      },
    },
    { reportApp: ['gateway'], listReports: VIEWERS },
  );
}

function parseReason(message: ReportReasonMessage): ReportReason {
  const reason = findReportReason(message);
  if (reason === null) throw invalidRequest('reason', `must be one of ${REPORT_REASONS.join(', ')}`);
  return reason;
}

function parseSubject({ subject }: ReportAppRequest): ReportSubject {
  switch (subject.case) {
    case 'grantId':
      return { grantId: parseKnownId('grt', subject.value) };
    case 'pendingId':
      return { pendingId: parseKnownId('apr', subject.value) };
    default:
      throw invalidRequest('subject', 'is missing');
  }
}

function toReportMessage(report: AppReport): MessageInitShape<typeof ReportSchema> {
  return {
    ...report,
    at: timestampFromDate(report.at),
    reason: toReportReasonMessage(report.reason),
    userId: report.userId ?? '',
    grantId: report.grantId ?? '',
    pendingId: report.pendingId ?? '',
  };
}
