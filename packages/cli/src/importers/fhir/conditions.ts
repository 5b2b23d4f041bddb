import { SEVERITIES, type Severity } from '@phds/catalog/wire-names';
import { Refused } from '../ingest/importer.ts';
import { codesOf, conceptText, hasCode, SNOMED } from './concepts.ts';
import { parsePartialDate } from './dates.ts';
import { at, type JsonObject, listAt, textAt } from './json-values.ts';
import { type MappingContext, type Outcome, toHealthRecord } from './outcome.ts';

const SNOMED_SEVERITIES: ReadonlyMap<string, Severity> = new Map([
  ['255604002', 'mild'],
  ['6736007', 'moderate'],
  ['24484000', 'severe'],
]);

/** The severity stated by a CodeableConcept, by SNOMED code or else by word; empty if unknown. */
function severityOfConcept(concept: unknown): Severity | '' {
  for (const code of codesOf(concept, SNOMED)) {
    const severity = SNOMED_SEVERITIES.get(code);
    if (severity !== undefined) return severity;
  }
  return severityOfWord(conceptText(concept));
}

/** The severity named by a word; empty for other words. */
function severityOfWord(word: string): Severity | '' {
  return SEVERITIES.find((severity) => severity === word.trim().toLowerCase()) ?? '';
}

/** The worst of several severities; empty if none is known. */
function worstSeverity(severities: readonly (Severity | '')[]): Severity | '' {
  return SEVERITIES.findLast((severity) => severities.includes(severity)) ?? '';
}

// SNOMED: no current problems or disability.
const NO_PROBLEM = ['160245001'];

/** Converts a Condition, unless it was refuted or entered in error. */
export function mapCondition(context: MappingContext): readonly Outcome[] {
  const { resource } = context;
  const code = at(resource, 'code');
  checkVerification(resource);
  if (codesOf(code, SNOMED).some((value) => NO_PROBLEM.includes(value))) {
    throw new Refused('states that there is no condition');
  }
  const name = conceptText(code);
  if (name === '') throw new Refused('name is missing');
  const value = {
    name,
    severity: severityOfConcept(at(resource, 'severity')),
    sinceDate: sinceDateOf(resource),
  };
  return [toHealthRecord(context, 'condition', { case: 'condition', value })];
}

/** Throws Refused for a refuted or erroneous statement. */
function checkVerification(resource: JsonObject): void {
  const status = at(resource, 'verificationStatus');
  if (hasCode(status, ['entered-in-error'])) throw new Refused('entered in error');
  if (hasCode(status, ['refuted'])) throw new Refused('refuted');
}

/** The onset with its known precision, else the day of recording; empty if unknown. */
function sinceDateOf(resource: JsonObject): string {
  const text =
    textAt(resource, 'onsetDateTime') ||
    textAt(resource, 'onsetPeriod', 'start') ||
    textAt(resource, 'recordedDate');
  return text === '' ? '' : parsePartialDate(text);
}

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
