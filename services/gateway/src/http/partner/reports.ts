import { REPORT_REASONS } from '@phds/catalog/wire-names';
import type { ReportAppRequest } from '@phds/contracts/phds/consent/v1/reports_pb';
import { toReportReasonMessage } from '@phds/service-kit/report-reasons';
import { z } from 'zod';
import { type Exchange, onBehalf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { readJsonBody } from '../json-body.ts';
import { sendJson } from '../respond.ts';
import { pathParameter } from '../routing.ts';
import { toInstant } from '../timestamps.ts';

// Consent limits the text and removes invisible characters.
export const reportBody = z.strictObject({
  reason: z.enum(REPORT_REASONS, `must be one of ${REPORT_REASONS.join(', ')}`),
  text: z
    .string('must be a text')
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode')
    .nullable()
    .optional(),
});

/** `POST /partner/consent/grants/:id/report` */
export function reportGrant(gateway: Gateway, exchange: Exchange): Promise<void> {
  return report(gateway, exchange, { case: 'grantId', value: pathParameter(exchange, 'id') });
}

/** `POST /partner/consent/pending/:id/report` */
export function reportPending(gateway: Gateway, exchange: Exchange): Promise<void> {
  return report(gateway, exchange, { case: 'pendingId', value: pathParameter(exchange, 'id') });
}

async function report(
  gateway: Gateway,
  exchange: Exchange,
  subject: ReportAppRequest['subject'],
): Promise<void> {
  const { reason, text } = await readJsonBody(exchange.request, reportBody, {
    maxBytes: gateway.config.MAX_BODY_BYTES,
  });
  const { id, at } = await gateway.backends.reports.reportApp(
    { subject, reason: toReportReasonMessage(reason), text: text ?? '' },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 201, { data: { id, at: toInstant(at) } });
}
