import { createHash } from 'node:crypto';
import { Refused } from '../ingest/refused.ts';
import { at, type JsonObject, listAt, textAt } from './json-values.ts';

/** A reference in R4: relative or absolute URL, optionally with a version. Real systems use `_` in ids, too. */
const TYPED = /(?:^|\/)([A-Z][A-Za-z]{1,63})\/([A-Za-z0-9._-]{1,64})(?:\/_history\/[^/]+)?$/;
/** A conditional reference: the resource that a search finds. */
const CONDITIONAL = /(?:^|\/)([A-Z][A-Za-z]{1,63})\?(.*)$/;

/** What decides whom a resource is about. */
export interface People {
  /** One spelling for each person, as far as the input tells. */
  canonical(reference: string): string;
  /** Whether the input names at most one person. */
  readonly isAboutOne: boolean;
}

/** Type and id of a literal reference; null for any other. */
export function typeAndId(reference: string): { readonly type: string; readonly id: string } | null {
  if (reference.includes('?')) return null;
  const [, type, id] = TYPED.exec(reference.split('|', 1)[0] ?? '') ?? [];
  return type === undefined || id === undefined ? null : { type, id };
}

/** The identifiers of a Patient, spelled as the conditional references that find it. */
export function identifiersOf(patient: unknown): string[] {
  return listAt(patient, 'identifier').flatMap((identifier) => byIdentifier('Patient', identifier) ?? []);
}

/** The subjects that a resource states: references as they are; identifiers and contained patients as conditional references. */
export function subjectsOf(resource: JsonObject): string[] {
  if (textAt(resource, 'resourceType') === 'Appointment') {
    const actors = listAt(resource, 'participant').map((participant) => at(participant, 'actor'));
    // The other actors are practitioners and locations.
    return actors.map((actor) => toText(actor, resource, 'unknown')).filter(isTypedPatient);
  }
  const stated = [at(resource, 'subject'), at(resource, 'patient')].flat();
  return stated.map((each) => toText(each, resource, 'Patient')).filter((text) => text !== '');
}

/** Whether a reference may lead to a patient: it names no other type. */
export function mayBePatient(reference: string): boolean {
  const type = typeAndId(reference)?.type ?? CONDITIONAL.exec(reference)?.[1] ?? 'Patient';
  return type === 'Patient';
}

/**
 * Throws Refused unless a resource is about `patient`: every subject must be resolved to that patient, and a resource without a subject is
 * accepted only if the input is about one person. `patient` is null when all patients of the input are the same person.
 */
export function checkSubject(resource: JsonObject, people: People, patient: string | null): void {
  const stated = subjectsOf(resource).map((subject) => people.canonical(subject));
  const subjects = stated.filter(mayBePatient);
  const isAppointment = textAt(resource, 'resourceType') === 'Appointment';
  if (subjects.length < stated.length && !isAppointment) throw new Refused('subject is not a patient');
  // Several people may take part in an appointment.
  const isParticipant = isAppointment && patient !== null && subjects.includes(patient);
  if (patient !== null && !isParticipant) checkPerson(subjects, people, patient);
  for (const focus of [at(resource, 'focus') ?? []].flat()) {
    const target = people.canonical(toText(focus, resource, 'unknown'));
    if (target !== patient && !subjects.includes(target))
      throw new Refused('focus is not the patient but a relative, a donor, a device or the like');
  }
}

function checkPerson(subjects: readonly string[], people: People, patient: string): void {
  if (subjects.length === 0 && !people.isAboutOne)
    throw new Refused('names no patient, and the input is about several');
  const other = subjects.find((subject) => subject !== patient);
  if (other === undefined) return;
  throw new Refused(other.includes('?') ? 'subject cannot be resolved' : 'about another patient');
}

function isTypedPatient(reference: string): boolean {
  return reference.startsWith('urn:') || (mayBePatient(reference) && /(?:^|\/)Patient[/?]/.test(reference));
}

/** A text for what a Reference names; empty if it names nothing. `type` is the type of the target if the Reference has none. */
function toText(reference: unknown, owner: JsonObject, type: string): string {
  const target = textAt(reference, 'reference');
  if (target.startsWith('#')) return containedText(owner, target.slice(1));
  const stated = textAt(reference, 'type') || type;
  if (target === '') return byIdentifier(stated, at(reference, 'identifier')) ?? '';
  const [, conditionalType, query] = CONDITIONAL.exec(target) ?? [];
  if (conditionalType !== undefined) return `${conditionalType}?${decoded(query ?? '')}`;
  return typeAndId(target) === null && stated !== type ? `${stated}?` : target;
}

function containedText(owner: JsonObject, id: string): string {
  const contained = listAt(owner, 'contained').find((candidate) => textAt(candidate, 'id') === id);
  const type = textAt(contained, 'resourceType');
  if (type !== 'Patient') return `${/^[A-Z][A-Za-z]{1,63}$/.test(type) ? type : 'Missing'}?`;
  const digest = createHash('sha256').update(JSON.stringify(contained)).digest('hex').slice(0, 16);
  return identifiersOf(contained)[0] ?? `Patient?contained=${digest}`;
}

function byIdentifier(type: string, identifier: unknown): string | undefined {
  const value = textAt(identifier, 'value');
  return value === '' ? undefined : `${type}?identifier=${textAt(identifier, 'system')}|${value}`;
}

function decoded(query: string): string {
  try {
    return decodeURIComponent(query);
  } catch {
    return query;
  }
}
