import type { RequestedScope } from '../../api/resources.ts';
import { groupByCategory } from '../../ui/scopes.ts';
import { text } from './texts.ts';

/** Scopes that cover all readings, of other scopes too. */
export const SUMMARIES: readonly string[] = ['read:aggregations', 'read:trends'];

/** Requested scopes under one heading. */
export interface ScopeGroup {
  /** The same in every language. */
  readonly id: string;
  readonly title: string;
  /** What they have in common; null if the heading says enough. */
  readonly note: string | null;
  readonly items: readonly RequestedScope[];
}

/** Groups requested scopes by category; then the very personal ones, then summaries. */
export function toScopeGroups(scopes: readonly RequestedScope[]): ScopeGroup[] {
  const isSummary = ({ scope }: RequestedScope) => SUMMARIES.includes(scope);
  const others = scopes.filter((item) => !isSummary(item));
  const groups: Omit<ScopeGroup, 'id'>[] = [
    ...groupByCategory(others.filter(({ sensitive }) => !sensitive)).map(({ category, items }) => ({
      title: category,
      note: null,
      items,
    })),
    {
      title: text('veryPersonal'),
      note: text('veryPersonalNote'),
      items: others.filter(({ sensitive }) => sensitive),
    },
    { title: text('summaries'), note: text('summariesNote'), items: scopes.filter(isSummary) },
  ];
  return groups.flatMap((group) => {
    const [first] = group.items;
    return first === undefined ? [] : [{ ...group, id: first.scope }];
  });
}
