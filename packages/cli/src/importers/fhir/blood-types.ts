import { BLOOD_TYPES, type BloodType } from '@phds/catalog/wire-names';
import { valueText } from './concepts.ts';
import type { JsonObject } from './json-values.ts';
import type { BloodFacts } from './outcome.ts';

// LOINC: ABO group (883-9), ABO and Rh group (882-1), Rh (10331-7).
const GROUP_CODES: ReadonlySet<string> = new Set(['883-9', '882-1']);
const RHESUS_CODE = '10331-7';

const GROUP = /(?:^|\b(?:group|type)\s+)(AB|A|B|O)(?=$|[\s+,(-])/i;
const POSITIVE = /\+|\bpos(?:itive)?\b/i;
const NEGATIVE = /-|−|\bneg(?:ative)?\b/i;

/** The part of a blood type that an observation states; null if there is none that can be parsed. */
export function findBloodFacts(codes: readonly string[], observation: JsonObject): BloodFacts | null {
  const statesGroup = codes.some((code) => GROUP_CODES.has(code));
  if (!statesGroup && !codes.includes(RHESUS_CODE)) return null;
  const text = valueText(observation);
  const group = statesGroup ? GROUP.exec(text)?.[1]?.toUpperCase() : undefined;
  const rhesus = findRhesus(text);
  if (group === undefined && rhesus === undefined) return null;
  return { ...(group === undefined ? {} : { group }), ...(rhesus === undefined ? {} : { rhesus }) };
}

function findRhesus(text: string): '+' | '-' | undefined {
  const [positive, negative] = [POSITIVE.test(text), NEGATIVE.test(text)];
  if (positive === negative) return undefined;
  return positive ? '+' : '-';
}

/** Combines all statements to a blood type; null if a part is unknown or statements contradict each other. */
export function findBloodType(facts: readonly BloodFacts[]): BloodType | null {
  const groups = new Set(facts.flatMap(({ group }) => group ?? []));
  const factors = new Set(facts.flatMap(({ rhesus }) => rhesus ?? []));
  if (groups.size !== 1 || factors.size !== 1) return null;
  const name = [...groups, ...factors].join('');
  return BLOOD_TYPES.find((type) => type === name) ?? null;
}
