import { SEVERITY_CODES } from '@phds/catalog/fhir/code-systems';
import { GENDERS, SEVERITIES, type Severity } from '@phds/catalog/wire-names';
import { isCalendarDate, parseStatedTime, parseZonedTime } from '../ingest/dates.ts';
import { type ImportedProfile, Refused } from '../ingest/importer.ts';
import { codesOf, conceptText, SNOMED } from './concepts.ts';
import { at, type JsonObject, listAt, shorten, textAt } from './json-values.ts';
import { type MappingContext, type Outcome, toHealthRecord } from './outcome.ts';
import type { References } from './references.ts';

const NAME_LENGTH = 200;
const USES = ['official', 'usual', '', 'temp', 'anonymous'];

/** Maps a Patient to name, gender and date of birth of the profile. Unclear fields remain unchanged. */
export function mapPatient({ resource }: MappingContext): readonly Outcome[] {
  const [name, gender, birth] = [nameOf(resource), textAt(resource, 'gender'), textAt(resource, 'birthDate')];
  const outcomes: Outcome[] = [];
  const facts: { -readonly [Field in keyof ImportedProfile]: ImportedProfile[Field] } = {};
  if (name !== '') facts.name = name;
  if (GENDERS.some((known) => known === gender)) facts.gender = gender;
  else if (gender !== '')
    outcomes.push({ kind: 'refused', reason: 'gender is not an administrative gender' });
  if (isCalendarDate(birth)) facts.dateOfBirth = birth;
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

/** The severity stated by a CodeableConcept, by SNOMED code or else by word; empty if unknown. */
function severityOfConcept(concept: unknown): Severity | '' {
  const codes = codesOf(concept, SNOMED);
  const coded = SEVERITIES.find((severity) => codes.includes(SEVERITY_CODES[severity]));
  return coded ?? severityOfWord(conceptText(concept));
}

/** The severity named by a word; empty for other words. */
function severityOfWord(word: string): Severity | '' {
  return SEVERITIES.find((severity) => severity === word.trim().toLowerCase()) ?? '';
}

/** The worst of several severities; empty if none is known. */
function worstSeverity(severities: readonly (Severity | '')[]): Severity | '' {
  return SEVERITIES.findLast((severity) => severities.includes(severity)) ?? '';
}

/** Converts a Condition. */
export function mapCondition(context: MappingContext): readonly Outcome[] {
  const { resource } = context;
  const name = conceptText(at(resource, 'code'));
  if (name === '') throw new Refused('name is missing');
  const value = {
    name,
    severity: severityOfConcept(at(resource, 'severity')),
    sinceDate: sinceDateOf(resource),
  };
  return [toHealthRecord(context, 'condition', { case: 'condition', value })];
}

/** The onset with its known precision, else the day of recording; empty if unknown. */
function sinceDateOf(resource: JsonObject): string {
  const text =
    textAt(resource, 'onsetDateTime') ||
    textAt(resource, 'onsetPeriod', 'start') ||
    textAt(resource, 'recordedDate');
  if (text !== '') parseStatedTime('date', text);
  // As it is stated: `2019`, `2019-05` or `2019-05-04`.
  return text.slice(0, 10);
}

/**
 * Converts an AllergyIntolerance to an allergy with the severity of its worst reaction. Criticality is not severity: it describes
 * what may happen, not what did.
 */
export function mapAllergy(context: MappingContext): readonly Outcome[] {
  const { resource } = context;
  const reactions = listAt(resource, 'reaction');
  const name = conceptText(at(resource, 'code')) || conceptText(at(reactions[0], 'substance'));
  if (name === '') throw new Refused('name is missing');
  const severity = worstSeverity(reactions.map((reaction) => severityOfWord(textAt(reaction, 'severity'))));
  const value = { name, severity, sinceDate: sinceDateOf(resource) };
  return [toHealthRecord(context, 'allergy', { case: 'allergy', value })];
}

const NOT_TAKING_PLACE: ReadonlySet<string> = new Set(['cancelled', 'noshow']);
const TITLE_LENGTH = 200;

/** Converts an Appointment, keeping its offset, unless it does not take place. */
export function mapAppointment(context: MappingContext): readonly Outcome[] {
  const { resource, references } = context;
  if (NOT_TAKING_PLACE.has(textAt(resource, 'status')))
    throw new Refused('appointment was cancelled or missed');
  const start = textAt(resource, 'start');
  if (start === '') throw new Refused('date is missing');
  const value = {
    title: titleOf(resource),
    dateTime: parseZonedTime('start', start),
    specialty: conceptText(at(resource, 'specialty', 0)),
    location: locationOf(resource, references),
  };
  return [toHealthRecord(context, 'appointment', { case: 'appointment', value })];
}

function titleOf(resource: JsonObject): string {
  const title =
    textAt(resource, 'description') ||
    conceptText(at(resource, 'serviceType', 0)) ||
    conceptText(at(resource, 'appointmentType')) ||
    conceptText(at(resource, 'reasonCode', 0));
  return shorten(title || 'Appointment', TITLE_LENGTH);
}

/** The location among the participants; people are omitted. */
function locationOf(resource: JsonObject, references: References): string {
  const places = listAt(resource, 'participant')
    .map((participant) => at(participant, 'actor'))
    .filter((actor) => isLocation(actor, resource, references))
    .map((actor) => references.nameOf(actor, resource));
  return places.find((name) => name !== '') ?? '';
}

function isLocation(actor: unknown, owner: JsonObject, references: References): boolean {
  const target = textAt(actor, 'reference');
  if (target.startsWith('#')) {
    const contained = listAt(owner, 'contained').find((each) => textAt(each, 'id') === target.slice(1));
    return textAt(contained, 'resourceType') === 'Location';
  }
  return textAt(actor, 'type') === 'Location' || references.canonical(target).startsWith('Location/');
}
