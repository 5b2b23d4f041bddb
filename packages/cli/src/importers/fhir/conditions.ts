import { Refused } from '../ingest/refused.ts';
import { codesOf, conceptText, hasCode, SNOMED } from './concepts.ts';
import { parsePartialDate } from './dates.ts';
import { at, type JsonObject, textAt } from './json-values.ts';
import { type MappingContext, type Outcome, toHealthRecord } from './outcome.ts';
import { severityOfConcept } from './severities.ts';

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
export function checkVerification(resource: JsonObject): void {
  const status = at(resource, 'verificationStatus');
  if (hasCode(status, ['entered-in-error'])) throw new Refused('entered in error');
  if (hasCode(status, ['refuted'])) throw new Refused('refuted');
}

/** The onset with its known precision, else the day of recording; empty if unknown. */
export function sinceDateOf(resource: JsonObject): string {
  const text =
    textAt(resource, 'onsetDateTime') ||
    textAt(resource, 'onsetPeriod', 'start') ||
    textAt(resource, 'recordedDate');
  return text === '' ? '' : parsePartialDate(text);
}
