import { i18n } from '@lingui/core';

/** The languages of these pages, each with its own name. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;

export type Language = keyof typeof LANGUAGES;

/** For a browser that does not have the page's language. */
export const USUAL_LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' };

/** Where the browser keeps the language that the person chose. */
const CHOICE = 'language';

/** The language of the page. */
export function currentLanguage(): Language {
  return isLanguage(i18n.locale) ? i18n.locale : 'en';
}

/** The locale of dates and numbers: the browser's own if it has the page's language. */
export function currentLocale(): string {
  return String(i18n.locales ?? USUAL_LOCALES.en);
}

/** Starts with the language that the person chose before, else with the first one of the browser that the pages have. */
export function startLanguage(): void {
  const chosen = readChoice();
  const spoken = navigator.languages.map(languageOf).find(isLanguage);
  activate(isLanguage(chosen) ? chosen : (spoken ?? 'en'));
}

/** Shows the page in another language, also from the next visit on. */
export function chooseLanguage(language: Language): void {
  try {
    localStorage.setItem(CHOICE, language);
  } catch {
    // Storage is blocked. The choice lasts until the page is left.
  }
  activate(language);
}

function readChoice(): string | null {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    return null;
  }
}

function activate(language: Language): void {
  document.documentElement.lang = language;
  const regional = navigator.languages.find((tag) => languageOf(tag) === language);
  i18n.activate(language, regional ?? USUAL_LOCALES[language]);
}

/** The language of a tag, without its region. */
function languageOf(tag: string): string {
  return tag.split('-')[0] ?? '';
}

function isLanguage(text: string | null | undefined): text is Language {
  return text !== null && text !== undefined && Object.hasOwn(LANGUAGES, text);
}
