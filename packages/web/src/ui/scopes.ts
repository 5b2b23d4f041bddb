import { isScope, SCOPES, type ScopeText, scopeTexts } from '@phds/catalog/scopes';
import { text } from '../texts/frame.ts';
import { currentLanguage } from '../texts/language.ts';
import { formatList } from './formats.ts';

/** The scopes of very personal data. */
export const SENSITIVE_SCOPES: ReadonlySet<string> = new Set(
  SCOPES.filter(({ sensitive }) => sensitive).map(({ scope }) => scope),
);

/** A scope's title in the page's language; the name of an unknown scope. */
export function scopeTitle(scope: string): string {
  return findTexts(scope)?.title ?? scope;
}

/** The titles of the scopes of accesses, which name one or, separated by spaces, several; each once. */
export function recordedTitles(accesses: readonly { readonly scope: string }[]): string[] {
  return [...new Set(accesses.flatMap(({ scope }) => scope.split(' ')))].map(scopeTitle);
}

/** The titles of scopes within a sentence. German nouns keep their capital. */
export function scopesInSentence(scopes: readonly string[]): string {
  const isEnglish = currentLanguage() === 'en';
  const titles = scopes.map(scopeTitle);
  return formatList(
    isEnglish ? titles.map((title) => title.charAt(0).toLowerCase() + title.slice(1)) : titles,
  );
}

/** A sentence about a scope in the page's language; empty for an unknown scope. */
export function scopeDescription(scope: string): string {
  return findTexts(scope)?.description ?? '';
}

function findTexts(scope: string): ScopeText | null {
  return isScope(scope) ? scopeTexts(currentLanguage())[scope] : null;
}

/** Groups scopes under the catalog's headings, in its order. */
export function groupByCategory<Item extends { readonly scope: string }>(
  items: readonly Item[],
): { category: string; items: Item[] }[] {
  const other = text('otherCategory');
  const headingOf = ({ scope }: { readonly scope: string }) => findTexts(scope)?.category ?? other;
  const groups = Map.groupBy(items, headingOf);
  const order = new Set([...SCOPES.map(headingOf), other]);
  return [...order].flatMap((category) => {
    const members = groups.get(category);
    return members === undefined ? [] : [{ category, items: members }];
  });
}
