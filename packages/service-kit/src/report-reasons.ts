import { REPORT_REASONS, type ReportReason } from '@phds/catalog/wire-names';
import { ReportReason as ReportReasonMessage } from '@phds/contracts/phds/consent/v1/reports_pb';

const MESSAGES = {
  data_use: ReportReasonMessage.DATA_USE,
  impersonation: ReportReasonMessage.IMPERSONATION,
  not_deleted: ReportReasonMessage.NOT_DELETED,
  other: ReportReasonMessage.OTHER,
} as const satisfies Record<ReportReason, ReportReasonMessage>;

/** The reason of a report as messages name it. */
export function toReportReasonMessage(reason: ReportReason): ReportReasonMessage {
  return MESSAGES[reason];
}

/** The reason that a message names; null for none, and for one of a later release. */
export function findReportReason(message: ReportReasonMessage): ReportReason | null {
  return REPORT_REASONS.find((reason) => MESSAGES[reason] === message) ?? null;
}
