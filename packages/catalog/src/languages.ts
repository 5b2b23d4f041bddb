/** The languages of texts that people decide by, as BCP 47 tags. */
export const LANGUAGES = ['en', 'de'] as const;

export type Language = (typeof LANGUAGES)[number];

/** A language tag according to RFC 5646 section 2.1, without its rarely used grandfathered forms. */
const TAG = /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i;
const LONGEST_TAG = 35;

/**
 * The language for a BCP 47 tag by RFC 4647 section 3.4 (look-up): `de-AT` is `de`. Null for a malformed tag and for a language without
 * texts.
 */
export function findLanguage(tag: string): Language | null {
  if (tag.length > LONGEST_TAG || !TAG.test(tag)) return null;
  // Look-up removes subtags from the end until a language matches. All languages here are single subtags.
  const [primary] = tag.toLowerCase().split('-');
  return LANGUAGES.find((language) => language === primary) ?? null;
}
