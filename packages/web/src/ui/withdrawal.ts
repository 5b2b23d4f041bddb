import { SCOPE_NAMES, type Scope, SUMMARY_SCOPES, stillCovered } from '@phds/catalog/scopes';
import { text } from '../texts/frame.ts';
import { formatList } from './formats.ts';
import { scopesInSentence, scopeTitle } from './scopes.ts';

/** What withdrawing scopes means: what the app can no longer read, and what it still gets through other scopes. */
interface Withdrawal {
  /** Scopes whose data the app no longer gets at all. */
  readonly gone: readonly string[];
  /** Sentences about what has become coarser. */
  readonly coarser: readonly string[];
  /** The sentence about what goes on; null if nothing does. */
  readonly goesOn: string | null;
  /** The scopes to withdraw, so that nothing goes on. */
  readonly through: readonly Scope[];
}

/** Describes the withdrawal of scopes from these, for an app of this name. */
export function describeWithdrawal(
  app: string,
  scopes: readonly string[],
  withdrawn: readonly string[],
): Withdrawal {
  const covered = stillCovered(scopes, withdrawn);
  const others = new Set([...covered.values()].flat());
  const through = SCOPE_NAMES.filter((scope) => others.has(scope));
  const coarser = [...covered]
    .filter(([, kept]) => kept.every((other) => SUMMARY_SCOPES.includes(other)))
    .map(([scope]) => scope);
  return {
    gone: withdrawn.filter((scope) => !covered.has(scope)),
    coarser: coarser.length === 0 ? [] : [text('noLongerEach', { app, items: scopesInSentence(coarser) })],
    goesOn:
      through.length === 0
        ? null
        : text('stillCovered', {
            app,
            items: scopesInSentence([...covered.keys()]),
            summaries: formatList(through.map(scopeTitle)),
          }),
    through,
  };
}
