import { z } from 'zod';
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

/** The present name of an app if it is not the approved one. */
export function findCurrentName(name: string, currentName: string): string | undefined {
  return currentName === '' || currentName === name ? undefined : currentName;
}
