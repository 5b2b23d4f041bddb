import { REPORT_REASONS } from '@phds/catalog/wire-names';
import type { AppProfile } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { ReportAppRequest } from '@phds/contracts/phds/consent/v1/reports_pb';
import { toReportReasonMessage } from '@phds/service-kit/wire-enums';
import { z } from 'zod';
import { required, toInstant, toNullable } from '../messages.ts';
import { instant, text, textOrNull } from '../openapi/fields.ts';
import type { Call } from '../operation.ts';

export const currentName = text
  .optional()
  .meta({ description: 'The present name of the app, if it is another one.' });

/** An app in a request or a grant. Null is unknown. */
export const appProfile = z.object({
  clientId: text,
  name: text,
  description: textOrNull,
  developerName: textOrNull,
  homepageUrl: textOrNull,
  privacyPolicyUrl: textOrNull,
  logoUrl: textOrNull,
});

export function toAppProfileJson(profile: AppProfile | undefined) {
  const app = required(profile);
  return {
    clientId: app.clientId,
    name: app.name,
    description: toNullable(app.description ?? ''),
    developerName: toNullable(app.developerName ?? ''),
    homepageUrl: toNullable(app.homepageUrl),
    privacyPolicyUrl: toNullable(app.privacyPolicyUrl),
    logoUrl: toNullable(app.logoUrl),
  };
}

/** The app's current name if it differs from the approved one, else null. */
export function findCurrentName(name: string, currentName: string): { currentName?: string } {
  return currentName === '' || currentName === name ? {} : { currentName };
}

// Consent limits the text and removes invisible characters.
export const reportBody = z.strictObject({
  reason: z.enum(REPORT_REASONS, `must be one of ${REPORT_REASONS.join(', ')}`),
  text: z
    .string('must be a text')
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode')
    .nullable()
    .optional(),
});

export const reportJson = z.object({ id: text, at: instant });

/** Sends a person's report about the app of a grant or of a pending approval to consent. */
export async function report(
  { backends, caller, body }: Call<z.infer<typeof reportBody>>,
  subject: ReportAppRequest['subject'],
): Promise<{ data: z.infer<typeof reportJson> }> {
  const reason = toReportReasonMessage(body.reason);
  const { id, at } = await backends.reports.reportApp({ subject, reason, text: body.text ?? '' }, caller);
  return { data: { id, at: toInstant(at) } };
}
