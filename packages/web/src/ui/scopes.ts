import { findScope, SCOPES } from '@phds/catalog/scopes';

const OTHER = 'Other';

/** A scope's title; the name of an unknown scope. */
export function scopeTitle(scope: string): string {
  return findScope(scope)?.title ?? scope;
}

/** Groups scopes under the catalog's headings, in its order. */
export function groupByCategory<Item extends { readonly scope: string }>(
  items: readonly Item[],
): { category: string; items: Item[] }[] {
  const groups = Map.groupBy(items, ({ scope }): string => findScope(scope)?.category ?? OTHER);
  const order = new Set([...SCOPES.map(({ category }): string => category), OTHER]);
  return [...order].flatMap((category) => {
    const members = groups.get(category);
    return members === undefined ? [] : [{ category, items: members }];
  });
}
