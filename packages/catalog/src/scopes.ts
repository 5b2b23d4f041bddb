import type { EndpointScope } from './endpoints.ts';
import { DATA_PATHS } from './endpoints.ts';

/** Name of a scope. Every data endpoint requires exactly one (interface.md 4). */
export type Scope = EndpointScope;

/** Heading for a scope on the approval screen and in `GET /oauth/scopes`. */
export type ScopeCategory =
  | 'Vital signs'
  | 'Activity, sleep and body'
  | 'Mind and mood'
  | 'Summaries'
  | 'Medical history'
  | 'About you';

interface ScopeText {
  readonly title: string;
  readonly description: string;
  readonly category: ScopeCategory;
  readonly sensitive: boolean;
}

/** A scope as shown on the approval screen and published by `GET /oauth/scopes` (contract section 3). */
export interface ScopeEntry {
  readonly scope: Scope;
  readonly title: string;
  /** One plain sentence, addressed to the person who decides. */
  readonly description: string;
  readonly category: ScopeCategory;
  /** Whether the approval screen marks the scope as sensitive. */
  readonly sensitive: boolean;
  /** Full paths of the endpoints that the scope opens. */
  readonly endpoints: readonly string[];
}

// All scopes are health data and require consent. `sensitive` marks scopes that deserve a second look, and must be rare enough to
// be noticed. Marked is data that by itself reveals a diagnosis, a treatment or a state of mind, or has free text that may
// (symptoms, medications, conditions, appointments by specialty, mood, reports, ehr), and the two summaries, which cover every
// health data type, even those whose own scope the person declines. Not marked are single measurements, allergies (meant to be
// shared, rarely used against anybody), and the profile, which identifies the person but reveals no illness and whose description
// lists every field.
const TEXTS: Readonly<Record<Scope, ScopeText>> = {
  'read:health-data:heart': {
    title: 'Heart',
    description:
      'Your heart rate (also at rest and while walking), its variability and the heart rate of your ECGs.',
    category: 'Vital signs',
    sensitive: false,
  },
  'read:health-data:blood-pressure': {
    title: 'Blood pressure',
    description: 'Your blood pressure readings, upper and lower value.',
    category: 'Vital signs',
    sensitive: false,
  },
  'read:health-data:oxygen': {
    title: 'Blood oxygen',
    description: 'The oxygen saturation of your blood.',
    category: 'Vital signs',
    sensitive: false,
  },
  'read:health-data:respiratory': {
    title: 'Breathing',
    description: 'How many breaths you take a minute, measured by a device or noted by a person.',
    category: 'Vital signs',
    sensitive: false,
  },
  'read:health-data:glucose': {
    title: 'Blood glucose',
    description: 'Your blood sugar readings.',
    category: 'Vital signs',
    sensitive: false,
  },
  'read:health-data:temperature': {
    title: 'Body temperature',
    description: 'Your body temperature readings.',
    category: 'Vital signs',
    sensitive: false,
  },
  'read:health-data:activity': {
    title: 'Activity',
    description:
      'Your steps, distance, energy burned, exercise minutes and flights climbed, but no places or routes.',
    category: 'Activity, sleep and body',
    sensitive: false,
  },
  'read:health-data:sleep': {
    title: 'Sleep',
    description: 'When and how long you slept, your sleep phases, and the time you lay awake or in bed.',
    category: 'Activity, sleep and body',
    sensitive: false,
  },
  'read:health-data:body-composition': {
    title: 'Body measurements',
    description: 'Every weight you recorded, your height, body mass index and body fat.',
    category: 'Activity, sleep and body',
    sensitive: false,
  },
  'read:health-data:mindfulness': {
    title: 'Mindfulness',
    description: 'When and how long you meditated or practised mindfulness.',
    category: 'Mind and mood',
    sensitive: false,
  },
  'read:aggregations': {
    title: 'Summary of all health data',
    description:
      'Latest, average, lowest and highest values of ALL your health data types, even of those you do not share one by one.',
    category: 'Summaries',
    sensitive: true,
  },
  'read:trends': {
    title: 'Trends of all health data',
    description:
      'How ALL your health data types change by the hour or day, even those you do not share one by one.',
    category: 'Summaries',
    sensitive: true,
  },
  'read:symptoms': {
    title: 'Symptoms',
    description: 'The symptoms you recorded, in your own words, with their severity and time.',
    category: 'Medical history',
    sensitive: true,
  },
  'read:medications': {
    title: 'Medications',
    description: 'Your medications, what they are for, and when you took or missed them.',
    category: 'Medical history',
    sensitive: true,
  },
  'read:conditions': {
    title: 'Conditions',
    description: 'The illnesses and conditions you have or had, their severity and since when.',
    category: 'Medical history',
    sensitive: true,
  },
  'read:allergies': {
    title: 'Allergies',
    description: 'Your allergies, their severity and since when.',
    category: 'Medical history',
    sensitive: false,
  },
  'read:appointments': {
    title: 'Appointments',
    description: 'Your medical appointments, past and coming: when, where and with which specialty.',
    category: 'Medical history',
    sensitive: true,
  },
  'read:weight': {
    title: 'Weight by day',
    description: 'Your weight, one value a day.',
    category: 'Activity, sleep and body',
    sensitive: false,
  },
  'read:mood': {
    title: 'Mood',
    description: 'How you felt and when, with the notes you wrote about it.',
    category: 'Mind and mood',
    sensitive: true,
  },
  'read:reports': {
    title: 'Report summaries',
    description: 'The summaries of your health reports and the dates they cover.',
    category: 'Medical history',
    sensitive: true,
  },
  'read:profile': {
    title: 'Profile',
    description: 'Your name, gender, date of birth and blood type.',
    category: 'About you',
    sensitive: false,
  },
  'read:ehr': {
    title: 'Records from your care providers',
    description:
      'Short summaries of the records imported from doctors and hospitals, which may be about any part of your health.',
    category: 'Medical history',
    sensitive: true,
  },
};

const pathsByScope = Map.groupBy(DATA_PATHS, (entry) => entry.scope);

/** The 22 scopes in catalog order, i.e. the order of their endpoints. */
export const SCOPES: readonly ScopeEntry[] = [...pathsByScope].map(([scope, paths]) => ({
  scope,
  ...TEXTS[scope],
  endpoints: paths.map((entry) => entry.path),
}));

/** The names of the 22 scopes in catalog order. */
export const SCOPE_NAMES: readonly Scope[] = SCOPES.map((entry) => entry.scope);

/** Scopes of data without a time, which the first day of a grant does not limit (decision 0009). */
export const STANDING_SCOPES: readonly Scope[] = [
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
