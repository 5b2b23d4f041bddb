import { METRICS } from '../metrics.ts';
import { SCOPES } from '../scopes.ts';
import type { Severity } from '../wire-names.ts';
import { OBSERVATION_KINDS } from './observation-kinds.ts';

const NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(METRICS.map(({ key, name }) => [key, name])),
  symptom: 'Symptom',
  mood: 'Mood',
  'blood-type': 'Blood type',
};

/** Our own codes of Observations (`OWN_SYSTEMS.metric`) with their displays. */
export const OWN_CODES: ReadonlyMap<string, string> = new Map(
  OBSERVATION_KINDS.map(({ ownCode }) => [ownCode, NAMES[ownCode] ?? ownCode]),
);

/** Our own categories of Observations (`OWN_SYSTEMS.category`) with their displays. */
export const OWN_CATEGORIES: ReadonlyMap<string, string> = new Map(
  OBSERVATION_KINDS.map(({ ownCategory, scope }) => [
    ownCategory,
    SCOPES.find((entry) => entry.scope === scope)?.title ?? ownCategory,
  ]),
);

export const SNOMED = 'http://snomed.info/sct';

/** SNOMED codes of severities. */
export const SEVERITY_CODES = {
  mild: '255604002',
  moderate: '6736007',
  severe: '24484000',
} as const satisfies Record<Severity, string>;
