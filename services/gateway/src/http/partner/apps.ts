import type { AppProfile } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { z } from 'zod';
import { required, toNullable } from '../messages.ts';
import { text, textOrNull } from '../openapi/fields.ts';

export const currentName = text
  .optional()
  .meta({ description: 'The present name of the app, if it is another one.' });

/** An app in a request or a grant. Null when it has no such text. */
export const appProfile = z.object({
  clientId: text,
  name: text,
  description: textOrNull,
  developerName: textOrNull,
  homepageUrl: textOrNull,
  privacyPolicyUrl: textOrNull,
});

export function toAppProfileJson(profile: AppProfile | undefined) {
  const app = required(profile);
  return {
    clientId: app.clientId,
    name: app.name,
    description: toNullable(app.description),
    developerName: toNullable(app.developerName),
    homepageUrl: toNullable(app.homepageUrl),
    privacyPolicyUrl: toNullable(app.privacyPolicyUrl),
  };
}

/** The app's current name if it differs from the approved one, else null. */
export function findCurrentName(name: string, currentName: string): { currentName?: string } {
  return currentName === '' || currentName === name ? {} : { currentName };
}
