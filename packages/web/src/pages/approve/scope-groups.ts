import type { RequestedScope } from '../../api/resources.ts';
import { groupByCategory } from '../../ui/scopes.ts';
import { text } from './texts.ts';

/** Requested scopes under one heading. */
export interface ScopeGroup {
  /** The same in every language. */
  readonly id: string;
  readonly title: string;
  /** What they have in common; null if the heading says enough. */
  readonly note: string | null;
  readonly items: readonly RequestedScope[];
  readonly isPersonal: boolean;
}

/** Groups requested scopes by category, those that are alone in theirs together; then the very personal ones. */
export function toScopeGroups(scopes: readonly RequestedScope[]): ScopeGroup[] {
  const categories = groupByCategory(scopes.filter(({ sensitive }) => !sensitive));
  const groups = categories
    .filter(({ items }) => items.length > 1)
    .map(({ category, items }) => toGroup(category, items));
  const alone = categories.filter(({ items }) => items.length === 1).flatMap(({ items }) => items);
  const personal = scopes.filter(({ sensitive }) => sensitive);
  return [
    ...groups,
    toGroup(text(groups.length === 0 ? 'types' : 'otherTypes'), alone),
    { ...toGroup(text('veryPersonal'), personal), note: text('veryPersonalNote'), isPersonal: true },
  ].filter(({ items }) => items.length > 0);
}

function toGroup(title: string, items: readonly RequestedScope[]): ScopeGroup {
  return { id: items[0]?.scope ?? '', title, note: null, items, isPersonal: false };
}
