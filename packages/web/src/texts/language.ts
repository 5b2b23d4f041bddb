import { i18n } from '@lingui/core';
import { findLanguage, type Language } from '@phds/catalog/languages';

/** The languages of these pages, each with its own name. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

/** For a browser that does not have the page's language. */
export const USUAL_LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' };

/** Where the browser keeps the language that the person chose. */
const CHOICE = 'language';

/** The language of the page. */
export function currentLanguage(): Language {
  return findLanguage(i18n.locale) ?? 'en';
}

/** The locale of dates and numbers: the browser's own if it has the page's language. */
export function currentLocale(): string {
  return String(i18n.locales ?? USUAL_LOCALES.en);
}

/** Whether a path is one of the developer console, which is in English only, as the documentation is. */
export function isOfConsole(path: string): boolean {
  return path === '/console' || path.startsWith('/console/');
}

/**
 * Starts with the language that the person chose before, else with the first one of the browser that the pages have; in the console with
 * English. Links between the console and the other pages load the document, so a page never changes between the two.
 */
export function startLanguage(): void {
  const chosen = isOfConsole(location.pathname) ? 'en' : readChoice();
  const wanted = chosen === null ? navigator.languages : [chosen, ...navigator.languages];
  activate(wanted.map(findLanguage).find((language) => language !== null) ?? 'en');
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
  const regional = navigator.languages.find((tag) => findLanguage(tag) === language);
  i18n.activate(language, regional ?? USUAL_LOCALES[language]);
}
