import { findScope, SCOPES } from '@phds/catalog/scopes';
import { text } from '../texts/frame.ts';

/** A scope's title; the name of an unknown scope. */
export function scopeTitle(scope: string): string {
  return findScope(scope)?.title ?? scope;
}

/** Groups scopes under the catalog's headings, in its order. */
export function groupByCategory<Item extends { readonly scope: string }>(
  items: readonly Item[],
): { category: string; items: Item[] }[] {
  const other = text('otherCategory');
  const groups = Map.groupBy(items, ({ scope }): string => findScope(scope)?.category ?? other);
  const order = new Set([...SCOPES.map(({ category }): string => category), other]);
  return [...order].flatMap((category) => {
    const members = groups.get(category);
    return members === undefined ? [] : [{ category, items: members }];
  });
}
