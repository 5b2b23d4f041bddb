import { METRICS } from '../metrics.ts';
import { SCOPES } from '../scopes.ts';
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
