import type { EndpointScope } from '../endpoints.ts';
import { ANY_TIME, both, findTimeBounds, type TimeBounds } from './dates.ts';
import {
  BLOOD_PRESSURE_COMPONENTS,
  CONDITION_CATEGORY,
  EHR_SOURCE,
  hasLoinc,
  LOINC,
  OBSERVATION_CATEGORY,
  OBSERVATION_KINDS,
  type ObservationKey,
  type ObservationKind,
  OWN_SYSTEMS,
} from './observation-kinds.ts';
import { type FhirType, fhirTypeOf, type SearchParameter, searchParametersOf } from './resource-types.ts';

/** The default `_count`. */
export const COUNT_DEFAULT = 50;
/** The maximum `_count`; a larger one is clamped. */
export const COUNT_MAX = 200;
/** The largest `_count` of a newest search. */
export const NEWEST_COUNT = 100;
/** The most readings that are counted. */
export const COUNTED_MAX = 10_000;
/** The most values of one parameter, and parameters of one search. */
const VALUES_MAX = 50;

/** A parameter as sent, decoded. */
export type SentParameter = readonly [name: string, value: string];

/** A kind of Observation that a search selects. */
export interface SelectedKind extends ObservationKind {
  /** Selected only by a LOINC code, which not all of its resources have (`hasLoinc`). */
  readonly byLoinc: boolean;
}

/** A search, or the read of one resource as the search for its id. */
export interface FhirSearch {
  readonly type: FhirType;
  /** Ids of resources; null for every one. */
  readonly ids: readonly string[] | null;
  /** Ids of the Patients whose resources are meant; null for the person of the token. */
  readonly patients: readonly string[] | null;
  /** Values of `identifier`; null for every one. */
  readonly identifiers: readonly string[] | null;
  /** The kinds of Observations; empty for other types. */
  readonly kinds: readonly SelectedKind[];
  /** Values of `status` where resources differ in it (MedicationAdministration); null for every one. */
  readonly statuses: readonly string[] | null;
  /** Whether a parameter excludes every resource of the type. */
  readonly isEmpty: boolean;
  readonly when: TimeBounds;
  readonly count: number;
  /** Whether only the number of matches is asked for. */
  readonly countOnly: boolean;
  readonly withTotal: boolean;
  /** As sent; null for the first page. */
  readonly cursor: string | null;
  /** The scopes of the data that may match; none if nothing can. The search is judged by those of them that are consented. */
  readonly scopes: readonly EndpointScope[];
  /** What applied, for the link `self`; without the cursor. */
  readonly applied: readonly SentParameter[];
}

/** What is wrong with a parameter. */
interface SearchProblem {
  readonly parameter: string;
  readonly message: string;
}

/** The values of codes that all resources of a type share. */
const FIXED: { readonly [T in FhirType]?: { readonly [P in SearchParameter]?: readonly string[] } } = {
  Observation: { status: ['final'] },
  Condition: {
    category: ['problem-list-item', `${CONDITION_CATEGORY}|problem-list-item`],
    // Not stored, so it is never claimed.
    'clinical-status': [],
  },
  AllergyIntolerance: { 'clinical-status': [] },
  MedicationRequest: { status: ['unknown'], intent: ['plan'] },
  Appointment: { status: ['booked'] },
  DiagnosticReport: { status: ['final'] },
  DocumentReference: { status: ['current'] },
};

const DATES: ReadonlySet<string> = new Set([
  'date',
  'onset-date',
  'effective-time',
] satisfies SearchParameter[]);

/** What the parameters of a search select so far. */
type Draft = {
  -readonly [Name in Exclude<keyof FhirSearch, 'type' | 'scopes' | 'applied'>]: FhirSearch[Name];
};

const ALL_KINDS: readonly SelectedKind[] = OBSERVATION_KINDS.map((kind) => ({ ...kind, byLoinc: false }));

/**
 * Parses a search (R4, Search). `base` is the address of the interface, `{PUBLIC_URL}/fhir/R4`. An unknown parameter is a problem unless
 * `lenient`, because a typing error must not widen a search. The same parameter twice means both, a comma means one of several.
 */
export function parseSearch(
  type: FhirType,
  sent: readonly SentParameter[],
  base: string,
  lenient = false,
): { readonly search: FhirSearch } | { readonly problems: readonly SearchProblem[] } {
  const draft: Draft = {
    ids: null,
    patients: null,
    identifiers: null,
    kinds: type === 'Observation' ? ALL_KINDS : [],
    statuses: null,
    isEmpty: false,
    when: ANY_TIME,
    count: COUNT_DEFAULT,
    countOnly: false,
    withTotal: false,
    cursor: null,
  };
  const problems: SearchProblem[] = [];
  const applied: SentParameter[] = [];
  if (sent.length > VALUES_MAX)
    return { problems: [{ parameter: 'query', message: `has more than ${VALUES_MAX} parameters` }] };
  for (const [name, value] of sent) {
    const problem = value === '' ? 'must not be empty' : apply(draft, type, name, value, base);
    if (problem === null && name !== '_cursor') applied.push([name, value]);
    if (problem === null || (problem === UNKNOWN && lenient)) continue;
    problems.push({ parameter: name, message: problem === UNKNOWN ? describeUnknown(type, name) : problem });
  }
  if (problems.length > 0) return { problems };
  return { search: { ...draft, type, scopes: scopesOf(type, draft), applied } };
}

/** What a search takes from the limits of its app; a request of the data API takes one. By measured processor time. */
export function costOf({ count, countOnly, withTotal }: FhirSearch): number {
  const pages = countOnly ? 0 : Math.ceil(count / COUNT_DEFAULT);
  return 1 + pages + (countOnly || withTotal ? 2 : 0);
}

/**
 * Whether it is for the newest readings of one code or one category, which are found without skipping any. Newest searches share
 * statements and batches, as newest pages of the data API do.
 */
export function isNewestSearch(search: FhirSearch): boolean {
  const { kinds, scopes, ids, when, count, countOnly, withTotal, cursor } = search;
  // Types other than Observation have no kinds.
  if (kinds.length === 0) return false;
  const isPlain = ids === null && cursor === null && !countOnly && !withTotal && count <= NEWEST_COUNT;
  if (!isPlain || scopes.length !== 1 || Object.values(when).some((bound) => bound !== null)) return false;
  // Readings of a source that is left out are skipped.
  const isRead = (kind: SelectedKind) =>
    prefixOf(kind) === 'rdg' && (!kind.byLoinc || hasLoinc(kind.key, EHR_SOURCE));
  const ofCategory = OBSERVATION_KINDS.filter(({ scope }) => scope === scopes[0]);
  return (kinds.length === 1 || kinds.length === ofCategory.length) && kinds.every(isRead);
}

/** The read of one resource. */
export function searchForId(type: FhirType, id: string, base: string): FhirSearch {
  const parsed = parseSearch(type, [['_id', id]], base);
  if ('search' in parsed) return parsed.search;
  throw new RangeError('The id is not an id of FHIR.');
}

/** Whether a text can be the id of a resource (R4, data type id). */
export function isFhirId(text: string): boolean {
  return /^[A-Za-z0-9.-]{1,64}$/.test(text);
}

const UNKNOWN = '';

function describeUnknown(type: FhirType, name: string): string {
  if (name.includes(':')) return 'has a modifier or a chain, which is not supported';
  const known = [...searchParametersOf(type), '_count', '_sort', '_total', '_summary'];
  return `is not a search parameter of ${type}; known are ${known.join(', ')}`;
}

/** Applies a parameter; returns what is wrong with it, `UNKNOWN`, or null. */
function apply(draft: Draft, type: FhirType, name: string, value: string, base: string): string | null {
  const general = Object.hasOwn(GENERAL, name) ? GENERAL[name] : undefined;
  if (general !== undefined) return general(draft, value, { type, base });
  if (!(fhirTypeOf(type).search as readonly string[]).includes(name)) return UNKNOWN;
  if (name === 'subject') return applyPatient(draft, value, base);
  if (DATES.has(name)) {
    const bounds = findTimeBounds(value);
    if (bounds === null)
      return 'must be a year, a month, a day or an instant, after eq, ge, gt, le, lt, sa or eb';
    draft.when = both(draft.when, bounds);
    return null;
  }
  const values = splitValues(value);
  if (values === null) return TOO_MANY;
  if (name === 'identifier') {
    draft.identifiers = narrow(
      draft.identifiers,
      values.map((each) => each.replace(`${base}/sub|`, '')),
    );
  } else if (type === 'Observation' && name !== 'status') {
    draft.kinds = selectKinds(draft.kinds, name, values, base);
  } else if (type === 'MedicationAdministration') {
    draft.statuses = narrow(draft.statuses, values.map(codeOf));
  } else if (!isFixed(type, name as SearchParameter, values)) draft.isEmpty = true;
  return null;
}

/** Whether one of the values is that of all resources. The system of a status or an intent is implied, so that any may be named. */
function isFixed(type: FhirType, name: SearchParameter, values: readonly string[]): boolean {
  const codes = name === 'category' ? values : values.map(codeOf);
  return codes.some((code) => FIXED[type]?.[name]?.includes(code));
}

const TOO_MANY = `must have at most ${VALUES_MAX} values`;

function codeOf(token: string): string {
  return token.slice(token.indexOf('|') + 1);
}

/** The values between commas; null if there are too many. A comma of a value is written `\,`. */
function splitValues(text: string): readonly string[] | null {
  const values = text.split(/(?<!\\),/).map((value) => value.replaceAll(/\\([,|$\\])/g, '$1'));
  return values.length > VALUES_MAX ? null : values;
}

function narrow(before: readonly string[] | null, values: readonly string[]): readonly string[] {
  return before === null ? values : before.filter((value) => values.includes(value));
}

type Apply = (
  draft: Draft,
  value: string,
  of: { readonly type: FhirType; readonly base: string },
) => string | null;

function applyPatient(draft: Draft, value: string, base: string): string | null {
  const values = splitValues(value);
  if (values === null) return TOO_MANY;
  const ids = values.map((each) => each.replace(`${base}/`, '').replace(/^Patient\//, ''));
  if (!ids.every(isFhirId)) return 'must be the id of a Patient, or Patient/{id}';
  draft.patients = narrow(draft.patients, ids);
  return null;
}

/** The parameters of every type. */
const GENERAL: Readonly<Record<string, Apply>> = {
  patient: (draft, value, { type, base }) =>
    type === 'Patient' ? UNKNOWN : applyPatient(draft, value, base),
  _id: (draft, value) => {
    const values = splitValues(value);
    if (values === null) return TOO_MANY;
    if (!values.every(isFhirId)) return 'must be the id of a resource';
    draft.ids = narrow(draft.ids, values);
    return null;
  },
  _count: (draft, value) => {
    if (!/^\d{1,9}$/.test(value)) return 'must be a number';
    const count = Number(value);
    draft.count = Math.min(count, COUNT_MAX);
    // R4, Search, section 3.1.1.5.5: treated like _summary=count.
    if (count === 0) draft.countOnly = true;
    return null;
  },
  _summary: (draft, value) => {
    if (value !== 'count' && value !== 'false') return 'must be count or false';
    if (value === 'count') draft.countOnly = true;
    return null;
  },
  _total: (draft, value) => {
    if (!['none', 'estimate', 'accurate'].includes(value)) return 'must be none, estimate or accurate';
    draft.withTotal = value !== 'none';
    return null;
  },
  _sort: (_draft, value, { type }) => {
    const order = fhirTypeOf(type).search.find((name) => DATES.has(name));
    if (order === undefined) return 'is not supported for this type';
    return value === `-${order}` ? null : `must be -${order}: the newest is first`;
  },
  _format: (_draft, value) =>
    ['json', 'application/json', 'application/fhir+json'].includes(value) ? null : 'must be json',
  _pretty: (_draft, value) => (value === 'true' || value === 'false' ? null : 'must be true or false'),
  _cursor: (draft, value) => {
    draft.cursor = value;
    return null;
  },
};

/** What matches a kind, by the parameter. */
interface KindTokens {
  readonly category: ReadonlySet<string>;
  readonly own: ReadonlySet<string>;
  readonly loinc: ReadonlySet<string>;
  /** For `combo-code`, which also finds components. */
  readonly combo: ReadonlySet<string>;
}

let lastTokens:
  | { readonly base: string; readonly ofKinds: ReadonlyMap<ObservationKey, KindTokens> }
  | undefined;

/** A service has one address. Making all tokens takes longer than the rest of a search. */
function tokensFor(base: string): ReadonlyMap<ObservationKey, KindTokens> {
  if (lastTokens?.base === base) return lastTokens.ofKinds;
  const ofKinds = new Map(OBSERVATION_KINDS.map((kind) => [kind.key, toKindTokens(kind, base)]));
  lastTokens = { base, ofKinds };
  return ofKinds;
}

function toKindTokens(kind: ObservationKind, base: string): KindTokens {
  return {
    category: new Set(categoryTokens(kind, base)),
    own: new Set(toTokens(`${base}/${OWN_SYSTEMS.metric}`, kind.ownCode)),
    loinc: new Set(loincTokens(kind, false)),
    combo: new Set(loincTokens(kind, true)),
  };
}

/** The kinds that have one of the codes or categories. */
function selectKinds(
  before: readonly SelectedKind[],
  name: string,
  values: readonly string[],
  base: string,
): readonly SelectedKind[] {
  const tokens = tokensFor(base);
  const has = (set: ReadonlySet<string> | undefined) => values.some((value) => set?.has(value));
  return before.flatMap((kind) => {
    const { category, own, loinc, combo } = tokens.get(kind.key) ?? {};
    const isOther = has(name === 'category' ? category : own);
    const isLoinc = name !== 'category' && has(name === 'combo-code' ? combo : loinc);
    return isOther || isLoinc ? { ...kind, byLoinc: kind.byLoinc || !isOther } : [];
  });
}

/** The values of a token parameter that a coding matches. */
function toTokens(system: string, code: string): readonly string[] {
  return [code, `${system}|${code}`, `${system}|`];
}

function categoryTokens({ category, ownCategory }: ObservationKind, base: string): readonly string[] {
  const own = toTokens(`${base}/${OWN_SYSTEMS.category}`, ownCategory);
  return category === null ? own : [...toTokens(OBSERVATION_CATEGORY, category), ...own];
}

function loincTokens({ key, published }: ObservationKind, withComponents: boolean): readonly string[] {
  const components =
    withComponents && key === 'blood-pressure' ? Object.values(BLOOD_PRESSURE_COMPONENTS) : [];
  return [...published, ...components].flatMap((code) => toTokens(LOINC, code));
}

function scopesOf(type: FhirType, { kinds, ids, isEmpty }: Draft): readonly EndpointScope[] {
  const { scopes, idPrefixes } = fhirTypeOf(type);
  if (type !== 'Observation' || isEmpty) return scopes;
  const wanted =
    ids === null ? idPrefixes : idPrefixes.filter((prefix) => ids.some((id) => id.startsWith(`${prefix}-`)));
  const ofKinds = kinds.filter((kind) => wanted.includes(prefixOf(kind)));
  // A search that can find nothing is recorded and judged like one that may, by all scopes of the type.
  return ofKinds.length === 0
    ? scopes
    : scopes.filter((scope) => ofKinds.some((kind) => kind.scope === scope));
}

const LIST_PREFIXES: Readonly<Record<string, string>> = {
  'daily-weight': 'wgt',
  symptom: 'sym',
  mood: 'mood',
  'blood-type': 'blood',
};

/** The prefix of the ids of a kind of Observation. */
export function prefixOf({ key }: Pick<ObservationKind, 'key'>): string {
  return LIST_PREFIXES[key] ?? 'rdg';
}

/**
 * The kinds of Observations that are read for these scopes. The weights of days are the weights of the body measurements once more, so
 * they are left out where these are read.
 */
export function kindsToRead(search: FhirSearch, judged: readonly string[]): readonly SelectedKind[] {
  const kinds = search.kinds.filter(({ scope }) => judged.includes(scope));
  const hasWeights = kinds.some(({ key }) => key === 'weight');
  return hasWeights ? kinds.filter(({ key }) => key !== 'daily-weight') : kinds;
}
