import type { MessageInitShape } from '@bufbuild/protobuf';
import { SECRET_OVERLAP_MAX_SECONDS } from '@phds/catalog/lifetimes';
import { ENVIRONMENTS } from '@phds/catalog/sandbox';
import { APP_STATUSES } from '@phds/catalog/wire-names';
import type { AppSettingsSchema } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { z } from 'zod';

// Checks the JSON shape only. Authorization validates names, URLs and scopes.
const text = z
  .string('must be a text')
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode');
const texts = z.array(text, 'must be a list of texts').min(1, 'must name at least one');
/** Null and the empty string both clear the value. */
const optionalText = text.nullable().optional();

const optionalSettings = {
  scopes: texts.optional(),
  description: optionalText,
  developerName: optionalText,
  homepageUrl: optionalText,
  privacyPolicyUrl: optionalText,
  logoUrl: optionalText,
  requirePkce: z.boolean('must be true or false').optional(),
};

/** Body of a registration. */
export const registrationBody = z.strictObject({
  name: text,
  redirectUris: texts,
  environment: z.enum(ENVIRONMENTS, `must be one of ${ENVIRONMENTS.join(', ')}`).optional(),
  ...optionalSettings,
});

/** Body of a change. Absent fields keep their value. */
export const changeBody = z.strictObject({
  name: text.optional(),
  redirectUris: texts.optional(),
  ...optionalSettings,
});

export const statusBody = z.strictObject({
  status: z.enum(APP_STATUSES, `must be one of ${APP_STATUSES.join(', ')}`),
});

const overlap = `must be a whole number from 0 to ${SECRET_OVERLAP_MAX_SECONDS}`;

/** Body of a rotation of the secret of an app or of its webhook endpoint. */
export const rotationBody = z.strictObject({
  overlapSeconds: z
    .int(overlap)
    .min(0, overlap)
    .max(SECRET_OVERLAP_MAX_SECONDS, overlap)
    .optional()
    .meta({ description: 'For so long the secret before works as well; 0 if absent.' }),
});

/** Converts a change to the settings message of authorization. */
export function toAppSettings(body: z.infer<typeof changeBody>): MessageInitShape<typeof AppSettingsSchema> {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}
