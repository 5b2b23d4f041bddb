import { Refused } from '../ingest/refused.ts';
import { codesOf, conceptText, SNOMED } from './concepts.ts';
import { checkVerification, sinceDateOf } from './conditions.ts';
import { at, listAt, textAt } from './json-values.ts';
import { type MappingContext, type Outcome, toHealthRecord } from './outcome.ts';
import { severityOfWord, worstSeverity } from './severities.ts';

// SNOMED: no known allergy, … drug allergy, … food allergy, … environmental allergy.
const NO_ALLERGY = ['716186003', '409137002', '429625007', '428607008'];

/**
 * Converts an AllergyIntolerance to an allergy with the severity of its worst reaction. Criticality is not severity: it describes
 * what may happen, not what did.
 */
export function mapAllergy(context: MappingContext): readonly Outcome[] {
  const { resource } = context;
  const code = at(resource, 'code');
  checkVerification(resource);
  if (codesOf(code, SNOMED).some((value) => NO_ALLERGY.includes(value))) {
    throw new Refused('states that there is no allergy');
  }
  const reactions = listAt(resource, 'reaction');
  const name = conceptText(code) || conceptText(at(reactions[0], 'substance'));
  if (name === '') throw new Refused('name is missing');
  const severity = worstSeverity(reactions.map((reaction) => severityOfWord(textAt(reaction, 'severity'))));
  const value = { name, severity, sinceDate: sinceDateOf(resource) };
  return [toHealthRecord(context, 'allergy', { case: 'allergy', value })];
}
