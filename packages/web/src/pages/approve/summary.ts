import { STANDING_SCOPES } from '@phds/catalog/scopes';
import type { PendingApproval } from '../../api/resources.ts';
import { currentLanguage } from '../../texts/language.ts';
import { formatList } from '../../ui/formats.ts';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatDate, formatDay, formatInstant } from '../../ui/time.tsx';
import { SUMMARIES } from './scope-groups.ts';
import type { Terms } from './terms.ts';
import { text } from './texts.ts';

/**
 * Says what an approval with these terms would allow: one sentence with every item, the end and the first day, then what it would end,
 * and what the sentence does not tell about some items. Without a choice, it says what to do.
 */
export function toSummary({ app, connection, requestedScopes }: PendingApproval, terms: Terms): string[] {
  const { chosen, scopes, stopped, firstDay, dayFault } = terms;
  if (chosen.length === 0) return [text(connection === null ? 'nothing' : 'nothingKept', { app: app.name })];
  if (dayFault !== null) return [text(dayFault === 'missing' ? 'dayMissing' : 'dayFuture')];
  const summaries = scopes.filter((scope) => SUMMARIES.includes(scope));
  const standing = firstDay === null ? [] : STANDING_SCOPES.filter((scope) => scopes.includes(scope));
  const missing = requestedScopes.filter(({ scope, need }) => need === 'needed' && !chosen.includes(scope));
  return [
    toSentence(app.name, terms),
    stopped.length === 0 ? null : text('noLonger', { app: app.name, items: toItems(stopped) }),
    summaries.length === 0
      ? null
      : text('coversEverything', { items: formatList(summaries.map(scopeTitle)), count: summaries.length }),
    standing.length === 0
      ? null
      : text('noDates', { items: formatList(standing.map(scopeTitle)), app: app.name }),
    missing.length === 0
      ? null
      : text('neededMissing', { items: toItems(missing.map(({ scope }) => scope)), app: app.name }),
  ].filter((sentence) => sentence !== null);
}

function toSentence(app: string, { scopes, firstDay, lookBack, life, end }: Terms): string {
  // The end of a single day is within a day that the person knows.
  const until = life === '1' ? formatInstant(new Date(end).toISOString()) : formatDay(end);
  const values = { app, items: toItems(scopes), until };
  if (firstDay === null) return text('sentenceEverything', values);
  return text(lookBack === 'today' ? 'sentenceToday' : 'sentence', { ...values, day: formatDate(firstDay) });
}

/** The titles of scopes within a sentence. */
function toItems(scopes: readonly string[]): string {
  return formatList(scopes.map(scopeTitle).map(inSentence));
}

/** German nouns keep their capital. */
function inSentence(title: string): string {
  return currentLanguage() === 'en' ? title.charAt(0).toLowerCase() + title.slice(1) : title;
}
