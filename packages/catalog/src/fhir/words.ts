import { formatScopeList, isScope, SCOPE_NAMES, type Scope } from '../scopes.ts';
import {
  CONDITION_CATEGORY,
  type Hl7Category,
  OBSERVATION_CATEGORY,
  OBSERVATION_KINDS,
  OBSERVATION_SCOPES,
  OWN_SYSTEMS,
  ownCategoryOf,
} from './observation-kinds.ts';
import { FHIR_TYPES, type FhirType, fhirTypeOf, isFhirType } from './resource-types.ts';

/** The meaning of words of SMART App Launch, of version 2 (`.rs`) and 1 (`.read`), depends on these. */
interface WordContext {
  /** Address of the FHIR interface, `{PUBLIC_URL}/fhir/R4`. */
  readonly base: string;
  /** The scopes that the app has registered: a word means those of them that it covers. */
  readonly registered: readonly Scope[];
}

/** A scope parameter that may mix names of scopes with words of SMART. */
export interface AskedScopes {
  /** In catalog order. Those of words are registered; those asked for by name may not be. */
  readonly scopes: readonly Scope[];
  /**
   * The names and words that mean something here, once each, in their order and normal form (`.rs` or `.read`). None if only names were
   * asked for.
   */
  readonly words: readonly string[];
  /** Words that mean nothing, as sent. */
  readonly unknown: readonly string[];
  /** Words of which the app has registered no scope. */
  readonly unregistered: readonly string[];
}

const LAUNCH_PATIENT = 'launch/patient';
/** Words without data that are returned as they were sent. fhirclient does not refresh unless `offline_access` is. */
const RETURNED: readonly string[] = [LAUNCH_PATIENT, 'offline_access'];
/** Words for what is not offered. A server may grant less than was asked for, so they are left out. */
const NOT_OFFERED: readonly string[] = ['openid', 'fhirUser', 'launch/encounter', 'online_access'];

/** The scopes of each type. The blood type is part of the profile, so only Patient has its scope. */
const OF_TYPES = new Map<FhirType, readonly Scope[]>(
  FHIR_TYPES.map((type) => [type, type === 'Observation' ? withoutProfile() : fhirTypeOf(type).scopes]),
);
const OF_OBSERVATIONS = OF_TYPES.get('Observation') ?? [];
const OF_ALL = SCOPE_NAMES.filter((scope) => [...OF_TYPES.values()].some((scopes) => scopes.includes(scope)));

function withoutProfile(): readonly Scope[] {
  return OBSERVATION_SCOPES.filter((scope) => !fhirTypeOf('Patient').scopes.includes(scope));
}

/** The weights of days are not asked for once more: they are those of the body measurements. */
const OF_HL7_CATEGORIES = Map.groupBy(
  OBSERVATION_KINDS.filter(({ key, scope }) => key !== 'daily-weight' && OF_OBSERVATIONS.includes(scope)),
  ({ category }) => category,
);
const HL7_CATEGORIES = [...OF_HL7_CATEGORIES.keys()].filter(
  (category): category is Hl7Category => category !== null,
);

const WORD =
  /^(patient|user|system)\/(\*|[A-Z][A-Za-z]*)\.(read|write|\*|(?=[cruds])c?r?u?d?s?)(?:\?([!-~]+))?$/;

interface Meaning {
  readonly word: string;
  readonly scopes: readonly Scope[];
}

/** What a word means, null for a word of SMART that opens nothing here, `undefined` for any other text. */
function findMeaning(sent: string, base: string): Meaning | null | undefined {
  if (isScope(sent)) return { word: sent, scopes: [sent] };
  if (RETURNED.includes(sent)) return { word: sent, scopes: [] };
  if (NOT_OFFERED.includes(sent)) return null;
  const [, context, type = '', permissions = '', query] = WORD.exec(sent) ?? [];
  if (context === undefined) return undefined;
  // Reading and searching are not separable here, and nothing can be written.
  const isV1 = ['read', 'write', '*'].includes(permissions);
  const reads = isV1 ? permissions !== 'write' : /[rs]/.test(permissions);
  const scopes = reads && context === 'patient' ? scopesOf(type, query, base) : [];
  if (scopes.length === 0) return null;
  const suffix = query === undefined ? '' : `?${query}`;
  return { word: `patient/${type}.${isV1 ? 'read' : 'rs'}${suffix}`, scopes };
}

function scopesOf(type: string, query: string | undefined, base: string): readonly Scope[] {
  if (type === '*') return query === undefined ? OF_ALL : [];
  if (!isFhirType(type)) return [];
  if (query === undefined) return OF_TYPES.get(type) ?? [];
  // Every Condition is an item of a problem list.
  if (type === 'Condition' && query === PROBLEMS) return fhirTypeOf(type).scopes;
  if (type !== 'Observation') return [];
  const own = OF_OBSERVATIONS.filter((scope) => query === ownCategoryQuery(scope, base));
  const category = HL7_CATEGORIES.find((name) => query === hl7CategoryQuery(name));
  if (category === undefined) return own;
  const kinds = OF_HL7_CATEGORIES.get(category) ?? [];
  return OF_OBSERVATIONS.filter((name) => kinds.some(({ scope }) => scope === name));
}

const PROBLEMS = `category=${CONDITION_CATEGORY}|problem-list-item`;

function ownCategoryQuery(scope: Scope, base: string): string {
  return `category=${base}/${OWN_SYSTEMS.category}|${ownCategoryOf(scope)}`;
}

function hl7CategoryQuery(category: Hl7Category): string {
  return `category=${OBSERVATION_CATEGORY}|${category}`;
}

/** Parses a scope parameter. What it returns is limited by the number of words that there are, however long the text is. */
export function parseAskedScopes(text: string, { base, registered }: WordContext): AskedScopes {
  const sent = [...new Set(text.split(' ').filter((word) => word !== ''))];
  const meanings = sent.map((word) => findMeaning(word, base));
  const known = meanings.filter((meaning) => meaning !== null && meaning !== undefined);
  const isOpen = (word: string, scope: Scope) => isScope(word) || registered.includes(scope);
  const opened = new Set(known.flatMap(({ word, scopes }) => scopes.filter((scope) => isOpen(word, scope))));
  const isUnregistered = ({ word, scopes }: Meaning) =>
    scopes.length > 0 && !scopes.some((scope) => isOpen(word, scope));
  return {
    scopes: SCOPE_NAMES.filter((scope) => opened.has(scope)),
    words: known.every(({ word }) => isScope(word)) ? [] : [...new Set(known.map(({ word }) => word))],
    unknown: sent.filter((_, index) => meanings[index] === undefined),
    unregistered: known.filter(isUnregistered).map(({ word }) => word),
  };
}

/** Whether the words ask for data of a person as SMART does, so that answers name the Patient. */
export function wantsPatient(words: readonly string[]): boolean {
  return words.some((word) => word === LAUNCH_PATIENT || word.startsWith('patient/'));
}

/**
 * The `scope` of an answer to an app that asked with these words: each word of which all scopes work, else a narrower one for each scope
 * that works. Then those scopes that work and were not asked for.
 */
export function formatGrantedScopes(
  words: readonly string[],
  working: readonly Scope[],
  { base, registered }: WordContext,
): string {
  const asked = words.flatMap((word) => findMeaning(word, base) ?? []);
  const said = asked.flatMap(({ word, scopes }) => {
    const all = word.startsWith('patient/*') ? scopes.filter((scope) => registered.includes(scope)) : scopes;
    if (scopes.length === 0 || (all.length > 0 && all.every((scope) => working.includes(scope)))) return word;
    const version = word.endsWith('.read') ? 'read' : 'rs';
    return scopes
      .filter((scope) => working.includes(scope))
      .flatMap((scope) => wordsOf(scope, base, version));
  });
  const rest = working.filter((scope) => !asked.some(({ scopes }) => scopes.includes(scope)));
  const others = wantsPatient(words)
    ? rest.flatMap((scope) => wordsOf(scope, base, 'rs'))
    : formatScopeList(rest).split(' ');
  return [...new Set([...said, ...others])].filter((word) => word !== '').join(' ');
}

/** The words for exactly one scope; its name if there are none. */
function wordsOf(scope: Scope, base: string, version: 'read' | 'rs'): readonly string[] {
  if (OF_OBSERVATIONS.includes(scope)) return [`patient/Observation.rs?${ownCategoryQuery(scope, base)}`];
  const types = FHIR_TYPES.filter((type) => OF_TYPES.get(type)?.includes(scope));
  return types.length === 0 ? [scope] : types.map((type) => `patient/${type}.${version}`);
}

/** The words that metadata lists; those with categories of our own work too. */
export const SMART_SCOPES: readonly string[] = [
  ...RETURNED,
  'patient/*.rs',
  ...FHIR_TYPES.map((type) => `patient/${type}.rs`),
  `patient/Condition.rs?${PROBLEMS}`,
  ...HL7_CATEGORIES.map((category) => `patient/Observation.rs?${hl7CategoryQuery(category)}`),
];
