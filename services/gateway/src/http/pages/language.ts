import type { Request } from 'express';

const LANGUAGES = ['en', 'de'] as const;

/** A language of the pages for people, as in packages/web/src/texts. */
export type Language = (typeof LANGUAGES)[number];

/** The language that the browser prefers (`Accept-Language`); English if these pages have none of its languages. */
export function preferredLanguage(request: Request): Language {
  return LANGUAGES.find((language) => language === request.acceptsLanguages(...LANGUAGES)) ?? 'en';
}
