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
}

/** Groups requested scopes by category; then the very personal ones. */
export function toScopeGroups(scopes: readonly RequestedScope[]): ScopeGroup[] {
  const groups: Omit<ScopeGroup, 'id'>[] = [
    ...groupByCategory(scopes.filter(({ sensitive }) => !sensitive)).map(({ category, items }) => ({
      title: category,
      note: null,
      items,
    })),
    {
      title: text('veryPersonal'),
      note: text('veryPersonalNote'),
      items: scopes.filter(({ sensitive }) => sensitive),
    },
  ];
  return groups.flatMap((group) => {
    const [first] = group.items;
    return first === undefined ? [] : [{ ...group, id: first.scope }];
  });
}
