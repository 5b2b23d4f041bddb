/** A text with the rules of names, a text of several lines, or a link, whose length is limited like that of any address of an app. */
type ProfileText = { readonly kind: 'name' | 'lines'; readonly maxLength: number } | { readonly kind: 'url' };

/**
 * What an app says of itself. Settings, checks, the JSON that is stored of an app, the fields of the API and the console's form follow from it;
 * only messages and labels name each text once more. A new one is also added to both schemas, `apps.proto` and `ledger.proto`; types and tests
 * name the rest, except `http/developer/apps.ts`, `receipts.ts`, `phds apps show`, `who-asks.tsx`, `connected-app-page.tsx` and
 * `app-changes.tsx`.
 */
export const APP_PROFILE = {
  name: { kind: 'name', maxLength: 100 },
  description: { kind: 'lines', maxLength: 500 },
  developerName: { kind: 'name', maxLength: 100 },
  homepageUrl: { kind: 'url' },
  privacyPolicyUrl: { kind: 'url' },
} as const satisfies Readonly<Record<string, ProfileText>>;

export type ProfileField = keyof typeof APP_PROFILE;

export const PROFILE_FIELDS = Object.keys(APP_PROFILE) as ProfileField[];

/** Texts and links are empty when the app has none. */
export type Profile = Readonly<Record<ProfileField, string>>;

/** The profile as it was stored, perhaps before this table got a text, which is then empty. */
export function readProfile(stored: Partial<Profile>): Profile {
  return toProfile((field) => stored[field] ?? '');
}

export function toProfile(textOf: (field: ProfileField) => string): Profile {
  return Object.fromEntries(PROFILE_FIELDS.map((field) => [field, textOf(field)])) as Profile;
}
