import { GENDERS } from '@phds/catalog/wire-names';
import { Refused } from '../ingest/importer.ts';
import { parseFhirTime } from './dates.ts';
import { type JsonObject, listAt, shorten, textAt } from './json-values.ts';
import type { MappingContext, Outcome, ProfileFacts } from './outcome.ts';

const NAME_LENGTH = 200;
const USES = ['official', 'usual', '', 'temp', 'anonymous'];

/** Maps a Patient to name, gender and date of birth of the profile. Unclear fields remain unchanged. */
export function mapPatient({ resource }: MappingContext): readonly Outcome[] {
  const [name, gender, birth] = [nameOf(resource), textAt(resource, 'gender'), textAt(resource, 'birthDate')];
  const outcomes: Outcome[] = [];
  const facts: { -readonly [Field in keyof ProfileFacts]: ProfileFacts[Field] } = {};
  if (name !== '') facts.name = name;
  if (GENDERS.some((known) => known === gender)) facts.gender = gender;
  else if (gender !== '')
    outcomes.push({ kind: 'refused', reason: 'gender is not an administrative gender' });
  if (isFullDate(birth)) facts.dateOfBirth = birth;
  else if (birth !== '') outcomes.push({ kind: 'refused', reason: 'date of birth is not a full date' });
  return [{ kind: 'profile', facts }, ...outcomes];
}

/** The current name, from its text or its parts. Former names are ignored. */
function nameOf(patient: JsonObject): string {
  const names = listAt(patient, 'name').filter((name) => textAt(name, 'period', 'end') === '');
  const [best] = names
    .filter((name) => USES.includes(textAt(name, 'use')))
    .toSorted((one, other) => USES.indexOf(textAt(one, 'use')) - USES.indexOf(textAt(other, 'use')));
  const parts = [
    ...listAt(best, 'given').map((_, index) => textAt(best, 'given', index)),
    textAt(best, 'family'),
  ];
  return shorten(textAt(best, 'text') || parts.filter((part) => part !== '').join(' '), NAME_LENGTH);
}

function isFullDate(text: string): boolean {
  try {
    return text !== '' && parseFhirTime(text).precision === 'day';
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}
