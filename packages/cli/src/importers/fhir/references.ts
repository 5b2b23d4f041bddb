import { createHash } from 'node:crypto';
import { Refused, UnusableFile } from '../ingest/importer.ts';
import { conceptText } from './concepts.ts';
import { at, type JsonObject, listAt, textAt } from './json-values.ts';

/** A reference in R4: relative or absolute URL, optionally with a version. Real systems use `_` in ids, too. */
const TYPED = /(?:^|\/)([A-Z][A-Za-z]{1,63})\/([A-Za-z0-9._-]{1,64})(?:\/_history\/[^/]+)?$/;
/** A conditional reference: the resource that a search finds. */
const CONDITIONAL = /(?:^|\/)([A-Z][A-Za-z]{1,63})\?(.*)$/;

/** Type and id of a literal reference; null for any other. */
function typeAndId(reference: string): { readonly type: string; readonly id: string } | null {
  if (reference.includes('?')) return null;
  const [, type, id] = TYPED.exec(reference.split('|', 1)[0] ?? '') ?? [];
  return type === undefined || id === undefined ? null : { type, id };
}

/** The identifiers of a Patient, spelled as the conditional references that find it. */
function identifiersOf(patient: unknown): string[] {
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
function mayBePatient(reference: string): boolean {
  const type = typeAndId(reference)?.type ?? CONDITIONAL.exec(reference)?.[1] ?? 'Patient';
  return type === 'Patient';
}

/**
 * Throws Refused unless a resource is about `patient`: every subject must be resolved to that patient, and a resource without a subject is
 * accepted only if the input is about one person. `patient` is null when all patients of the input are the same person.
 */
export function checkSubject(resource: JsonObject, people: References, patient: string | null): void {
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

function checkPerson(subjects: readonly string[], people: References, patient: string): void {
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

/** Types that other resources refer to by name: the medication of a request, the reason, the location. */
const NAMED: { readonly [resourceType: string]: (resource: JsonObject) => string } = {
  Medication: (resource) => conceptText(at(resource, 'code')),
  Condition: (resource) => conceptText(at(resource, 'code')),
  Observation: (resource) => conceptText(at(resource, 'code')),
  Procedure: (resource) => conceptText(at(resource, 'code')),
  Location: (resource) => textAt(resource, 'name'),
};
// There are too many observations and procedures to store their names; references to them as a reason usually have a display text.
const INDEXED: ReadonlySet<string> = new Set(['Medication', 'Condition', 'Location']);

/** Types that take part in appointments or stand in place of a patient. */
const NOT_PATIENTS: ReadonlySet<string> = new Set([
  'Device',
  'Group',
  'HealthcareService',
  'Organization',
  'Practitioner',
  'PractitionerRole',
  'RelatedPerson',
]);

// A bundle of hundreds of MB has some ten thousand. The limit allows exports of whole hospitals but not files made to exhaust
// memory.
const MAX_NAMES = 200_000;
const MAX_PATIENTS = 200_000;

const HTTP = /^https?:\/\//i;
/** The canonical form of a URL or identifier that several patients share, so that it identifies none of them. */
const AMBIGUOUS = 'Patient?ambiguous';

/**
 * The names and ids by which the resources of a bundle refer to each other. Filled in a first pass, because references may point
 * forward.
 */
export class References {
  readonly #names = new Map<string, string>();
  readonly #idOfUrl = new Map<string, string>();
  readonly #patients = new Set<string>();
  readonly #subjects = new Set<string>();
  readonly #urlOfPatient = new Map<string, string>();
  readonly #ambiguous = new Set<string>();
  #isAboutOne: boolean | null = null;

  /** Adds one resource of the bundle. */
  add(fullUrl: string, resource: JsonObject): void {
    const id = idOf(fullUrl, resource);
    const type = textAt(resource, 'resourceType');
    this.#isAboutOne = null;
    if (type === 'Patient' && this.#patients.size < MAX_PATIENTS) this.#addPatient(fullUrl, id, resource);
    if (type === 'Patient' || INDEXED.has(type) || NOT_PATIENTS.has(type)) this.#addUrl(fullUrl, id);
    const name = INDEXED.has(type) ? NAMED[type]?.(resource) : undefined;
    if (name !== undefined && name !== '' && this.#names.size < MAX_NAMES) this.#names.set(id, name);
    for (const subject of subjectsOf(resource)) {
      if (this.#subjects.size < MAX_PATIENTS) this.#subjects.add(subject);
    }
  }

  #addPatient(fullUrl: string, id: string, patient: JsonObject): void {
    const former = this.#urlOfPatient.get(id) ?? fullUrl;
    // Two servers may have the same id for different people, and a Patient without any id equals no other.
    if (id === '' ? this.#patients.has(id) : former !== fullUrl) this.#ambiguous.add(id);
    this.#patients.add(id);
    this.#urlOfPatient.set(id, fullUrl);
    for (const identifier of identifiersOf(patient)) this.#addUrl(identifier, id);
  }

  #addUrl(url: string, id: string): void {
    if (url === '' || url === id) return;
    const known = this.#idOfUrl.get(url);
    if (known !== undefined) this.#idOfUrl.set(url, known === id ? id : AMBIGUOUS);
    else if (this.#idOfUrl.size < MAX_NAMES) this.#idOfUrl.set(url, id);
  }

  /** Whether several Patient resources have this id and may be different people. */
  isAmbiguous(patient: string): boolean {
    return this.#ambiguous.has(patient);
  }

  /** One spelling for each person, as far as the input tells: `Type/id` if it can be determined. */
  canonical(reference: string): string {
    const known = this.#idOfUrl.get(reference);
    if (known !== undefined) return known;
    const typed = typeAndId(reference);
    if (typed === null) return reference;
    const id = `${typed.type}/${typed.id}`;
    return this.#isElsewhere(reference, id) ? reference : id;
  }

  /** Whether an absolute reference leads to another server than that of the patient with the same id. */
  #isElsewhere(reference: string, id: string): boolean {
    const own = this.#urlOfPatient.get(id) ?? '';
    return HTTP.test(own) && HTTP.test(reference) && !reference.startsWith(own);
  }

  /** Whether the input names at most one person. */
  get isAboutOne(): boolean {
    this.#isAboutOne ??= new Set([...this.#patients, ...this.#people()]).size <= 1;
    return this.#isAboutOne;
  }

  #people(): string[] {
    return [...this.#subjects].map((subject) => this.canonical(subject)).filter(mayBePatient);
  }

  /** The patients of the bundle: its Patient resources, else those that its resources refer to. */
  patients(): string[] {
    if (this.#patients.size > 0) return [...this.#patients];
    return [...new Set(this.#people())];
  }

  /** The name of a referenced resource, contained or in the bundle, else the reference's display; empty if there is none. */
  nameOf(reference: unknown, owner: JsonObject): string {
    const target = textAt(reference, 'reference');
    if (target.startsWith('#')) return containedName(owner, target.slice(1)) || textAt(reference, 'display');
    return this.#names.get(this.canonical(target)) ?? textAt(reference, 'display');
  }
}

/** The id of a resource in the bundle: `Type/id`, else its fullUrl; empty if it has neither. */
export function idOf(fullUrl: string, resource: JsonObject): string {
  const [type, id] = [textAt(resource, 'resourceType'), textAt(resource, 'id')];
  return id === '' ? fullUrl : `${type}/${id}`;
}

function containedName(owner: JsonObject, id: string): string {
  const contained = listAt(owner, 'contained').find((candidate) => textAt(candidate, 'id') === id);
  const naming = NAMED[textAt(contained, 'resourceType')];
  return naming === undefined ? '' : naming(contained as JsonObject);
}

const MAX_LISTED = 5;

/**
 * The patient whose data is imported; null if the input names none. Throws UnusableFile if that is ambiguous. `input` names the
 * input in the message, such as `bundle`.
 */
export function choosePatient(references: References, wanted: string | null, input: string): string | null {
  const patients = references.patients();
  if (wanted === null) {
    if (patients.length <= 1) return unambiguous(references, patients[0] ?? null, input);
    const listed = patients.slice(0, MAX_LISTED).join(', ');
    throw new UnusableFile(
      `The ${input} is about ${patients.length} patients (${listed}${patients.length > MAX_LISTED ? ', …' : ''}): choose one with --patient`,
    );
  }
  const spellings = [references.canonical(wanted), `Patient/${wanted}`];
  const found = patients.find((patient) => spellings.includes(patient));
  if (found === undefined) throw new UnusableFile(`The ${input} has no patient ${wanted}`);
  return unambiguous(references, found, input);
}

function unambiguous(references: References, patient: string | null, input: string): string | null {
  if (patient === null || !references.isAmbiguous(patient)) return patient;
  throw new UnusableFile(
    `The ${input} has several patients ${patient === '' ? 'without an id' : `with the id ${patient}`}`,
  );
}
