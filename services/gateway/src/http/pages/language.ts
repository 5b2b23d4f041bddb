import { LANGUAGES, type Language } from '@phds/catalog/languages';
import type { Request } from 'express';

/** The language that the browser prefers (`Accept-Language`); English if these pages have none of its languages. */
export function preferredLanguage(request: Request): Language {
  return LANGUAGES.find((language) => language === request.acceptsLanguages(...LANGUAGES)) ?? 'en';
}
