import type { EndpointScope } from './endpoints.ts';
import { DATA_PATHS } from './endpoints.ts';
import type { Language } from './languages.ts';
import { DE } from './scope-texts/de.ts';
import { type CatalogTexts, EN, type ScopeCategory } from './scope-texts/en.ts';

/** Name of a scope. Every data endpoint requires exactly one. */
export type Scope = EndpointScope;

/** What the approval screen says about a scope. */
export interface ScopeText {
  readonly title: string;
  /** One plain sentence, addressed to the person who decides. */
  readonly description: string;
  /** Heading for several scopes. */
  readonly category: string;
}

/** A scope as published by `GET /oauth/scopes`, with its English texts. */
interface ScopeEntry extends ScopeText {
  readonly scope: Scope;
  /** Whether the approval screen marks the scope as sensitive. */
  readonly sensitive: boolean;
  /** Full paths of the endpoints that the scope opens. */
  readonly endpoints: readonly string[];
}

interface ScopeTraits {
  readonly category: ScopeCategory;
  readonly sensitive: boolean;
}

// All scopes are health data and require consent. `sensitive` marks scopes that deserve attention, and must be rare enough to
// be noticed. Marked is data that by itself reveals a diagnosis, a treatment or a state of mind, or has free text that may
// (symptoms, medications, conditions, appointments by specialty, mood, reports, ehr), and the two summaries, which cover every
// health data type, even those whose own scope the person declines. Not marked are single measurements, allergies (meant to be
// shared, rarely used against anybody), and the profile, which identifies the person but reveals no illness and whose description
// lists every field.
const TRAITS: Readonly<Record<Scope, ScopeTraits>> = {
  'read:health-data:heart': { category: 'vital-signs', sensitive: false },
  'read:health-data:blood-pressure': { category: 'vital-signs', sensitive: false },
  'read:health-data:oxygen': { category: 'vital-signs', sensitive: false },
  'read:health-data:respiratory': { category: 'vital-signs', sensitive: false },
  'read:health-data:glucose': { category: 'vital-signs', sensitive: false },
  'read:health-data:temperature': { category: 'vital-signs', sensitive: false },
  'read:health-data:activity': { category: 'activity-sleep-body', sensitive: false },
  'read:health-data:sleep': { category: 'activity-sleep-body', sensitive: false },
  'read:health-data:body-composition': { category: 'activity-sleep-body', sensitive: false },
  'read:health-data:mindfulness': { category: 'mind-mood', sensitive: false },
  'read:aggregations': { category: 'summaries', sensitive: true },
  'read:trends': { category: 'summaries', sensitive: true },
  'read:symptoms': { category: 'medical-history', sensitive: true },
  'read:medications': { category: 'medical-history', sensitive: true },
  'read:conditions': { category: 'medical-history', sensitive: true },
  'read:allergies': { category: 'medical-history', sensitive: false },
  'read:appointments': { category: 'medical-history', sensitive: true },
  'read:weight': { category: 'activity-sleep-body', sensitive: false },
  'read:mood': { category: 'mind-mood', sensitive: true },
  'read:reports': { category: 'medical-history', sensitive: true },
  'read:profile': { category: 'about-you', sensitive: false },
  'read:ehr': { category: 'medical-history', sensitive: true },
};

const pathsByScope = Map.groupBy(DATA_PATHS, (entry) => entry.scope);

const TEXTS: Readonly<Record<Language, Readonly<Record<Scope, ScopeText>>>> = {
  en: headed(EN),
  de: headed(DE),
};

/** The texts of all scopes in a language. A receipt keeps those that were shown. */
export function scopeTexts(language: Language): Readonly<Record<Scope, ScopeText>> {
  return TEXTS[language];
}

/** The texts of each scope with its heading. */
function headed({ scopes, categories }: CatalogTexts): Readonly<Record<Scope, ScopeText>> {
  const entries = [...pathsByScope.keys()].map((scope) => {
    const category = categories[TRAITS[scope].category];
    return [scope, { ...scopes[scope], category }] as const;
  });
  return Object.fromEntries(entries) as Record<Scope, ScopeText>;
}

/** The 22 scopes in catalog order, i.e. the order of their endpoints. */
export const SCOPES: readonly ScopeEntry[] = [...pathsByScope].map(([scope, paths]) => ({
  scope,
  ...TEXTS.en[scope],
  sensitive: TRAITS[scope].sensitive,
  endpoints: paths.map((entry) => entry.path),
}));

/** The names of the 22 scopes in catalog order. */
export const SCOPE_NAMES: readonly Scope[] = SCOPES.map((entry) => entry.scope);

/** Scopes of summaries over all readings, those of other scopes included. */
export const SUMMARY_SCOPES: readonly Scope[] = ['read:aggregations', 'read:trends'];

/** Scopes that open the data of a scope, too: summaries that of all readings, and body measurements each weight. */
function coveringScopes(scope: string): readonly Scope[] {
  if (scope === 'read:weight') return ['read:health-data:body-composition', ...SUMMARY_SCOPES];
  return scope.startsWith('read:health-data:') ? SUMMARY_SCOPES : [];
}

/** The withdrawn scopes whose data other scopes still open, each with those others. */
export function stillCovered(
  scopes: readonly string[],
  withdrawn: readonly string[],
): ReadonlyMap<string, readonly Scope[]> {
  const kept = scopes.filter((scope) => !withdrawn.includes(scope));
  const through = (scope: string) => coveringScopes(scope).filter((other) => kept.includes(other));
  return new Map(
    withdrawn.map((scope) => [scope, through(scope)] as const).filter(([, others]) => others.length > 0),
  );
}

/** Scopes of data without a time, which the first day of a grant does not limit. */
export const UNDATED_SCOPES: readonly Scope[] = [
  'read:medications',
  'read:conditions',
  'read:allergies',
  'read:profile',
];

const byName: ReadonlyMap<string, ScopeEntry> = new Map(SCOPES.map((entry) => [entry.scope, entry]));

/** Whether a text is exactly one known scope. Scopes are case-sensitive; there are no wildcards. */
export function isScope(text: string): text is Scope {
  return byName.has(text);
}

/** The scope with this name, or null. */
export function findScope(text: string): ScopeEntry | null {
  return byName.get(text) ?? null;
}

/**
 * Parses a space-separated scope value (RFC 6749 section 3.3). Known scopes are returned once each in catalog order; all other
 * words are returned in `unknown`, once each, as sent. Extra spaces are ignored.
 */
export function parseScopeList(text: string): { scopes: Scope[]; unknown: string[] } {
  const sent = new Set(text.split(' '));
  sent.delete('');
  return {
    scopes: SCOPE_NAMES.filter((scope) => sent.has(scope)),
    unknown: [...sent].filter((token) => !isScope(token)),
  };
}

/** Formats scopes as RFC 6749 section 3.3 requires: space-separated, once each, in catalog order. */
export function formatScopeList(scopes: Iterable<Scope>): string {
  const wanted = new Set(scopes);
  return SCOPE_NAMES.filter((scope) => wanted.has(scope)).join(' ');
}
