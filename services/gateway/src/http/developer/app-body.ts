import type { MessageInitShape } from '@bufbuild/protobuf';
import { APP_STATUSES } from '@phds/catalog/wire-names';
import type { AppSettingsSchema } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { z } from 'zod';

// Shapes alone: which names, addresses and scopes are good is for authorization to say.
const text = z
  .string('must be a text')
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode');
const texts = z.array(text, 'must be a list of texts').min(1, 'must name at least one');
/** Null clears it, as an empty text does. */
const optionalText = text.nullable().optional();

const optionalSettings = {
  scopes: texts.optional(),
  description: optionalText,
  homepageUrl: optionalText,
  privacyPolicyUrl: optionalText,
  logoUrl: optionalText,
  requirePkce: z.boolean('must be true or false').optional(),
};

/** Body of a registration. */
export const registrationBody = z.strictObject({ name: text, redirectUris: texts, ...optionalSettings });

/** Body of a change: what is absent stays. */
export const changeBody = z.strictObject({
  name: text.optional(),
  redirectUris: texts.optional(),
  ...optionalSettings,
});

export const statusBody = z.strictObject({
  status: z.enum(APP_STATUSES, `must be one of ${APP_STATUSES.join(', ')}`),
});

/** The settings as authorization takes them. */
export function toAppSettings(body: z.infer<typeof changeBody>): MessageInitShape<typeof AppSettingsSchema> {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}
